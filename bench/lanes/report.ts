// The report of the lanes: plain text, one figure a line and one column for each of the seven, medians over the rounds.
import { cpus } from 'node:os';
import type { LaneSetting } from '../../core/delivery/lane.ts';
import { type Bar, barLine } from '../support/bars.ts';
import { type Cost, totalCpuMs } from '../support/cost.ts';
import { median } from '../support/measure.ts';
import type { Percentiles } from '../support/traffic.ts';
import type { Round } from './index.ts';
import { FIXED_RATE, type LaneFigures, type Latencies } from './lane.ts';

/** What the lanes have to reach; ratios are the median of each round's own. */
export function barsOf(rounds: Round[]): Bar[] {
  const bar = (what: string, unit: string, limit: Pick<Bar, 'atLeast' | 'atMost'>, pick: (round: Round) => number) => {
    const values = rounds.map(pick);
    return { what, unit, ...limit, value: median(values), rounds: values };
  };
  const ofLane = (lane: LaneSetting, endToEndMs: number) => [
    bar(
      `${lane}: end to end p50 at ${FIXED_RATE}/s`,
      ' ms',
      { atMost: endToEndMs },
      (r) => r[lane].atFixedRate.endToEnd.p50,
    ),
    bar(`${lane}: acknowledged p99 at 50 %`, ' ms', { atMost: 10 }, (r) => r[lane].half.ack.p99),
  ];
  return [
    bar('workflow : bare workflow', '', { atLeast: 0.85 }, (r) => r.workflow.perSecond / r.bareWorkflow.perSecond),
    bar('express : workflow', '', { atLeast: 8 }, (r) => r.express.perSecond / r.workflow.perSecond),
    bar('express : bare pipeline', '', { atLeast: 0.6 }, (r) => r.express.perSecond / r.barePipeline.perSecond),
    bar('adaptive : express', '', { atLeast: 0.9 }, (r) => r.adaptive.perSecond / r.express.perSecond),
    bar('express: CPU per delivery', ' ms', { atMost: 1.2 }, (r) => totalCpuMs(r.express.cost)),
    ...ofLane('workflow', 40),
    ...ofLane('express', 15),
    ...ofLane('adaptive', 40),
  ];
}

const PERCENTILES = ['p50', 'p95', 'p99'] as const satisfies (keyof Percentiles)[];
/** The lanes follow their limits; `adaptive` has that of `express`. */
const COLUMNS = [
  ['bareWorkflow', 'bare workflow'],
  ['workflow', 'lane workflow'],
  ['barePipeline', 'bare pipeline'],
  ['express', 'lane express'],
  ['adaptive', 'lane adaptive'],
] as const satisfies [keyof Round, string][];
const MEASURED_LANES = [
  ['workflow', 'workflow'],
  ['express', 'express'],
  ['adaptive', 'adaptive'],
] as const;

export function report(rounds: Round[], bars: Bar[], seconds: number): string {
  const ofAll = (pick: (figures: Round[keyof Round]) => number, decimals: number) =>
    COLUMNS.map(([column]) => median(rounds.map((round) => pick(round[column]))).toFixed(decimals));
  const cost = (what: string, pick: (cost: Cost) => number) =>
    row(
      `  ${what}`,
      ofAll((figures) => pick(figures.cost), 2),
    );
  const ofLanes = (what: string, show: (figures: LaneFigures[]) => string) => {
    const isLane = (column: string) => MEASURED_LANES.some(([lane]) => lane === column);
    const shown = COLUMNS.map(([column]) =>
      isLane(column) ? show(rounds.map((round) => round[column] as LaneFigures)) : '',
    );
    return row(what, shown);
  };
  const memory = (process: 'worker' | 'api') => (lanes: LaneFigures[]) =>
    median(lanes.map((lane) => lane.memoryMiB[process])).toFixed(0);
  return [
    '',
    `${cpus().length} cores; medians of ${rounds.length} rounds of ${seconds} s; load and receiver run on the same machine`,
    row(
      '',
      COLUMNS.map(([, title]) => title),
    ),
    row(
      'per second, saturated',
      ofAll((figures) => figures.perSecond, 1),
    ),
    row(
      'CPU per delivery, ms',
      ofAll((figures) => totalCpuMs(figures.cost), 2),
    ),
    cost('API', ({ cpuMs }) => cpuMs.api),
    cost('worker (of a limit: its process)', ({ cpuMs }) => cpuMs.worker),
    cost('Temporal server', ({ cpuMs }) => cpuMs.temporal),
    cost('PostgreSQL', ({ cpuMs }) => cpuMs.postgres),
    cost('not counted: load and receiver', ({ loadCpuMs }) => loadCpuMs),
    'per delivery',
    cost("commits, Hookyard's database", ({ hookyardCommits }) => hookyardCommits),
    cost("commits, Temporal's databases", ({ temporalCommits }) => temporalCommits),
    cost('WAL, KiB', ({ walBytes }) => walBytes / 1024),
    ofLanes('memory of the worker, MiB', memory('worker')),
    ofLanes('memory of the API, MiB', memory('api')),
    '',
    ...latencies('at 50 % of its maximum', rounds, (figures) => figures.half),
    bareLatency(rounds),
    ...latencies(`at ${FIXED_RATE}/s`, rounds, (figures) => figures.atFixedRate),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}

function latencies(title: string, rounds: Round[], pick: (figures: LaneFigures) => Latencies): string[] {
  const line = ([lane, name]: (typeof MEASURED_LANES)[number]) => {
    const all = rounds.map((round) => pick(round[lane]));
    const of = (measure: 'ack' | 'endToEnd') =>
      PERCENTILES.map((rank) => median(all.map((each) => each[measure][rank])).toFixed(1)).join(' / ');
    const head = `  lane ${name} (${median(all.map((each) => each.perSecond)).toFixed(1)}/s)`;
    return `${head.padEnd(34)}acknowledged ${of('ack')} ms, end to end ${of('endToEnd')} ms`;
  };
  return [`${title}, p50 / p95 / p99`, ...MEASURED_LANES.map(line)];
}

function bareLatency(rounds: Round[]): string {
  const all = rounds.map((round) => round.barePipeline);
  const perSecond = median(all.map((each) => each.perSecond)) / 2;
  const ack = PERCENTILES.map((name) => median(all.map((each) => each.ackAtHalf[name])).toFixed(1)).join(' / ');
  return `${`  bare pipeline (${perSecond.toFixed(1)}/s)`.padEnd(34)}acknowledged ${ack} ms`;
}

function row(what: string, cells: string[]): string {
  return `${what.padEnd(36)}${cells.map((cell) => cell.padStart(15)).join('')}`.trimEnd();
}
