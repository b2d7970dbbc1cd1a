// The report of the fleet: plain text, one figure a line and one column for each size, medians over the rounds.
import type { Bar } from '../support/bars.ts';
import { totalCpuMs } from '../support/cost.ts';
import { median } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import type { FleetFigures } from './index.ts';

/** What a delivery may cost, as a multiple of what it costs with the smallest fleet: CPU, claims, and waits for locks. */
const COST_BAR = 1.3;
// Waits for locks per delivery that are next to nothing, ms: they are sampled, and a multiple of none says nothing.
const NEXT_TO_NO_WAIT_MS = 0.1;

/** By size of the fleet: the figures of every round. */
function bySize(rounds: FleetFigures[][]): Map<number, FleetFigures[]> {
  return Map.groupBy(rounds.flat(), ({ workers }) => workers);
}

/**
 * Each size beside the smallest one, in the same round; and no relay may be without work to claim.
 * @param asked how many sizes were asked for: one that was left out, or took less than the load, misses the first bar
 */
export function barsOf(rounds: FleetFigures[][], asked: number): Bar[] {
  const measured = rounds.map(({ length }) => length);
  const sizes = { what: 'sizes that were measured', value: Math.min(...measured), unit: '', atLeast: asked };
  return [sizes, ...barsOfSizes(rounds)];
}

function barsOfSizes(rounds: FleetFigures[][]): Bar[] {
  return [...bySize(rounds).keys()].flatMap((workers): Bar[] => {
    const pairs = rounds.flatMap((round) => {
      const own = round.find((figures) => figures.workers === workers);
      return own && round[0] ? [{ own, first: round[0] }] : [];
    });
    const idle = pairs.map(({ own }) => own.seen.idleRelays);
    const relays = { what: `${workers} workers: relays without shards`, unit: '', atMost: 0, rounds: idle };
    const [first] = pairs;
    const isBeside = first !== undefined && first.own !== first.first;
    const compared = (what: string, pick: (figures: FleetFigures) => number): Bar => {
      const ratios = pairs.map(({ own, first }) => pick(own) / pick(first));
      const title = `${what} per delivery, ${workers} : ${first?.first.workers} workers`;
      return { what: title, unit: '', atMost: COST_BAR, value: median(ratios), rounds: ratios };
    };
    const locks = (what: string, pick: (figures: FleetFigures) => number): Bar => {
      const values = pairs.map(({ own }) => pick(own));
      const atMost = Math.max(NEXT_TO_NO_WAIT_MS, COST_BAR * median(pairs.map(({ first }) => pick(first))));
      const title = `${what} per delivery, ${workers} workers`;
      return { what: title, unit: ' ms', atMost: Number(atMost.toFixed(2)), value: median(values), rounds: values };
    };
    const comparisons = () => [
      compared('CPU', ({ cost }) => totalCpuMs(cost)),
      compared('claims', claimsPerDelivery),
      locks('waits for locks', ({ seen, ...figures }) => waitedMs(seen.waitingForLocks, figures)),
      locks('waits for inner locks', ({ seen, ...figures }) => waitedMs(seen.waitingInside, figures)),
    ];
    return [...(isBeside ? comparisons() : []), { ...relays, value: Math.max(...idle) }];
  });
}

const claimsPerDelivery = ({ seen, deliveredPerSecond, seconds }: FleetFigures) =>
  seen.claims / (deliveredPerSecond * seconds);

/** @param sessions that wait on average */
const waitedMs = (sessions: number, { deliveredPerSecond }: Pick<FleetFigures, 'deliveredPerSecond'>) =>
  (1000 * sessions) / deliveredPerSecond;

export function report(rounds: FleetFigures[][], bars: string[], { api, rate, seconds }: BenchOptions): string {
  const sizes = [...bySize(rounds).values()];
  const row = (what: string, pick: (figures: FleetFigures) => number, decimals = 2) =>
    `${what.padEnd(46)}${sizes.map((all) => median(all.map(pick)).toFixed(decimals).padStart(10)).join('')}`;
  const ofCpu = (what: string, name: keyof FleetFigures['cost']['cpuMs']) => row(what, ({ cost }) => cost.cpuMs[name]);
  const each = (what: string, pick: (figures: FleetFigures) => number, decimals = 2) =>
    row(what, (figures) => pick(figures) / figures.seconds, decimals);
  return [
    '',
    `lane express, ${api} API processes, ${rate} webhooks a second for ${seconds} s; medians of ${rounds.length} rounds`,
    row('workers', ({ workers }) => workers, 0),
    row('delivered per second', ({ deliveredPerSecond }) => deliveredPerSecond, 1),
    row('CPU per delivery, ms', ({ cost }) => totalCpuMs(cost)),
    ofCpu('  API', 'api'),
    ofCpu('  worker', 'worker'),
    ofCpu('  Temporal server', 'temporal'),
    ofCpu('  PostgreSQL', 'postgres'),
    row('  not counted: load and receiver', ({ cost }) => cost.loadCpuMs),
    row('CPU of the idle fleet, ms per second', ({ idle }) => totalCpuMs(idle), 0),
    row('  workers', ({ idle }) => idle.cpuMs.worker, 0),
    row('  PostgreSQL and Temporal', ({ idle }) => idle.cpuMs.postgres + idle.cpuMs.temporal, 0),
    each('claims per second', ({ seen }) => seen.claims, 0),
    row('claims per delivery', claimsPerDelivery),
    row('commits per delivery', ({ cost }) => cost.hookyardCommits),
    row('WAL per delivery, KiB', ({ cost }) => cost.walBytes / 1024, 1),
    row('sessions that wait for a lock, mean', ({ seen }) => seen.waitingForLocks),
    row('sessions that wait for an inner lock, mean', ({ seen }) => seen.waitingInside),
    row('relays without shards, at most', ({ seen }) => seen.idleRelays, 0),
    row('acknowledged p50, ms', ({ ack }) => ack.p50, 1),
    row('acknowledged p99, ms', ({ ack }) => ack.p99, 1),
    row('end to end p50, ms', ({ endToEnd }) => endToEnd.p50, 1),
    row('end to end p99, ms', ({ endToEnd }) => endToEnd.p99, 1),
    row("connections to Hookyard's database", ({ seen }) => seen.connections, 0),
    row('memory of a worker, MiB', ({ workerMiB }) => workerMiB, 0),
    '',
    ...sizes.flatMap(([first]) => (first ? details(first) : [])),
    ...bars,
    '',
  ].join('\n');
}

/** What PostgreSQL did in the first round of a size. */
function details({ workers, seconds, seen }: FleetFigures): string[] {
  const waits = Object.entries(seen.events).map(([event, mean]) => `${event} ${mean.toFixed(2)}`);
  return [
    `${workers} workers: sessions waited for ${waits.join(', ') || 'nothing'}; most time took, per second`,
    ...seen.statements.map(({ text, calls, execMs }) => {
      const figures = `${(calls / seconds).toFixed(0).padStart(6)} times ${(execMs / seconds).toFixed(1).padStart(7)} ms`;
      return `  ${figures}  ${text}`;
    }),
    '',
  ];
}
