// The report of a run: the table, what is wrong, and how to repeat it.
import type { Arrived } from './checks/arrivals.ts';
import type { Problem } from './checks/problems.ts';
import type { Ledger } from './ledger.ts';
import type { TortureOptions } from './options.ts';
import type { FaultRecord } from './run.ts';
import { FAULT_KINDS } from './schedule.ts';

const RECOVERY_BAR_SECONDS = 30;

export interface Outcome {
  options: TortureOptions;
  seconds: number;
  /** From the last fault and webhook until nothing was under way any more. */
  quietSeconds: number;
  records: FaultRecord[];
  ledger: Ledger;
  arrived: Arrived;
  /** Lost, stuck or wrong: with any of these the run has failed. */
  problems: Problem[];
  /** Processes that ended although nobody ended them, and how often. */
  endedByThemselves: Map<string, number>;
}

/** The report, as lines. */
export function reportLines(outcome: Outcome): string[] {
  const tables = [faultTable(outcome.records), figures(outcome), verdict(outcome)];
  return tables.flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]));
}

function faultTable(records: FaultRecord[]): string[] {
  const lines = [`  ${'fault'.padEnd(32)} ${'times'.padStart(5)}   slowest recovery of the flow`];
  for (const kind of FAULT_KINDS) {
    const own = records.filter(({ fault }) => fault.kind === kind);
    if (own.length > 0) lines.push(`  ${kind.padEnd(32)} ${String(own.length).padStart(5)}   ${slowest(own)}`);
  }
  return lines;
}

function slowest(records: FaultRecord[]): string {
  if (records.some(({ recoveredMs }) => recoveredMs === null)) return 'none';
  return seconds(Math.max(...records.map(({ recoveredMs }) => recoveredMs ?? 0)));
}

function figures({ options, records, ledger, arrived, endedByThemselves, ...outcome }: Outcome): string[] {
  const refusals = [...ledger.refusals].map(
    ([what, count]) => `${count} ${what === 'broken' ? 'broken connections' : `answers ${what}`}`,
  );
  const ended = [...endedByThemselves].map(([name, times]) => `${name} ${times}`);
  const late = records.filter(({ recoveredMs }) => recoveredMs === null || recoveredMs > RECOVERY_BAR_SECONDS * 1000);
  const rows: [string, string | number][] = [
    ['acknowledged', ledger.acknowledged.size],
    ['arrived', arrived.arrived],
    ['failed visibly', arrived.failedVisibly],
    ['refused by a filter', arrived.filtered],
    ['lost', arrived.lost],
    ['duplicates, recognisable', arrived.duplicates],
    ['repeated by the sender', refusals.join(', ') || 'nothing'],
    ['faults', records.length],
    [`recovery slower than ${RECOVERY_BAR_SECONDS} s`, late.length],
    ['processes that ended by themselves', ended.join(', ') || 'none'],
    ['time under load', seconds(outcome.seconds * 1000)],
    ['until all was quiet', seconds(outcome.quietSeconds * 1000)],
    ['lanes', options.lanes.join(' and ')],
    ['webhooks per second, workers', `${options.rate}, ${options.workers}`],
    ['seed', options.seed],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(38)} ${value}`);
}

function verdict({ options, records, ledger, problems }: Outcome): string[] {
  const cut = records.length < options.faults || ledger.acknowledged.size < options.events;
  const lines = cut
    ? [`The time of ${options.minutes} minutes ended the run before all was done that was asked for.`]
    : [];
  for (const { kind, what, count, ids } of problems) {
    lines.push(`${kind.toUpperCase()}: ${count} ${what}`, ...ids.map((id) => `  ${id}`));
  }
  lines.push(
    problems.length === 0
      ? 'Every acknowledged event was delivered or failed visibly, and nothing is stuck.'
      : `To repeat the faults: ${commandOf(options)}`,
  );
  return lines;
}

function commandOf({ faults, events, lanes, ...options }: TortureOptions): string {
  const lane = lanes.length > 1 ? 'both' : lanes[0];
  const { seed, rate, workers, peaceSeconds } = options;
  return `npm run torture -- --seed ${seed} --faults ${faults} --events ${events} --lane ${lane} --rate ${rate} --workers ${workers} --peace ${peaceSeconds}`;
}

/** What a round of faults did, as one line of progress. */
export function progressLine(
  records: FaultRecord[],
  done: number,
  { faults }: TortureOptions,
  ledger: Ledger,
  arrived: number,
): string {
  const what = records
    .map(({ fault, recoveredMs, problem }) => {
      const recovery = recoveredMs === null ? 'did not recover' : `recovered in ${seconds(recoveredMs)}`;
      const target = /^(API|worker|receiver)/.test(fault.kind) ? ` (${fault.target})` : '';
      return `${fault.kind}${target} ${fault.seconds > 0 ? `for ${seconds(fault.seconds * 1000)}, ` : ''}${recovery}${problem ? `; ${problem}` : ''}`;
    })
    .join(' + ');
  return `${String(done).padStart(4)}/${faults} faults  ${ledger.acknowledged.size} acknowledged  ${arrived} arrived  ${what}`;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
