// The report of a run: the table, what is wrong, and how to repeat it.
import type { Arrived } from './checks/arrivals.ts';
import type { Problem } from './checks/problems.ts';
import type { Ledger, Stall } from './ledger.ts';
import type { TortureOptions } from './options.ts';
import type { FaultRecord } from './run.ts';
import { EXTRAS, faultKinds } from './schedule.ts';
import type { Life, Usage } from './usage.ts';

const RECOVERY_BAR_SECONDS = 30;
const MEBIBYTE = 1024 * 1024;

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
  usage: Usage;
}

/** The report, as lines. */
export function reportLines(outcome: Outcome): string[] {
  const tables = [faultTable(outcome.records), memoryTable(outcome.usage), figures(outcome), verdict(outcome)];
  return tables.flatMap((lines) => (lines.length === 0 ? [] : ['', ...lines]));
}

function faultTable(records: FaultRecord[]): string[] {
  const lines = [`  ${'fault'.padEnd(32)} ${'times'.padStart(5)}   slowest recovery of the flow`];
  for (const kind of faultKinds(EXTRAS)) {
    const own = records.filter(({ fault }) => fault.kind === kind);
    if (own.length > 0) lines.push(`  ${kind.padEnd(32)} ${String(own.length).padStart(5)}   ${slowest(own)}`);
  }
  return lines;
}

function slowest(records: FaultRecord[]): string {
  if (records.some(({ recoveredMs }) => recoveredMs === null)) return 'none';
  return seconds(Math.max(...records.map(({ recoveredMs }) => recoveredMs ?? 0)));
}

/**
 * Of each process the life that lasted longest, because a restart begins with little. Without /proc there is nothing to
 * tell.
 */
function memoryTable({ lives }: Usage): string[] {
  const rows = [...lives].toSorted().map(([name, all]) => {
    const [longest] = all.toSorted((a, b) => b.until - b.since - (a.until - a.since));
    return memoryRow(name, longest ? ofLife(longest) : [], mebibytes(Math.max(...all.map(({ highest }) => highest))));
  });
  if (rows.length === 0) return [];
  return [memoryRow('memory of', ['lived longest', 'after a minute', 'at its end'], 'highest of all'), ...rows];
}

function memoryRow(name: string, life: string[], highest: string): string {
  return `  ${name.padEnd(16)} ${[...life, highest].map((text) => text.padStart(15)).join('')}`;
}

function ofLife({ since, until, settled, latest }: Life): string[] {
  const minutes = Math.round((until - since) / 60_000);
  return [`${minutes} min`, settled === null ? '-' : mebibytes(settled), mebibytes(latest)];
}

function figures({ options, records, ledger, arrived, endedByThemselves, usage, ...outcome }: Outcome): string[] {
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
    ['longest time without an answer 200', stallOf(ledger.acknowledgements.longest, records)],
    ['longest time without an arrival', stallOf(ledger.arrivals.longest, records)],
    ['processes that ended by themselves', ended.join(', ') || 'none'],
    ['time under load', seconds(outcome.seconds * 1000)],
    ['until all was quiet', seconds(outcome.quietSeconds * 1000)],
    ['databases at the start and at the end', `${size(usage.databases.first)} and ${size(usage.databases.latest)}`],
    ['lanes', options.lanes.join(' and ')],
    ['webhooks per second, workers', `${options.rate}, ${options.workers}`],
    ['with', options.extras.join(', ') || 'nothing between or beside'],
    ['seed', options.seed],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(38)} ${value}`);
}

/** How long it was, and what was done then. */
function stallOf({ from, to }: Stall, records: FaultRecord[]): string {
  const isOver = ({ endedAt, recoveredMs }: FaultRecord) => recoveredMs !== null && endedAt + recoveredMs <= from;
  const meanwhile = records.filter((record) => record.startedAt < to && !isOver(record));
  const kinds = [...new Set(meanwhile.map(({ fault }) => fault.kind))].join(', ');
  return `${seconds(to - from)}${kinds === '' ? '' : ` (${kinds})`}`;
}

function verdict({ options, records, ledger, problems }: Outcome): string[] {
  const cut = records.length < options.faults || ledger.acknowledged.size < options.events;
  const lines =
    cut && options.hours === null
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

function commandOf({ hours, faults, events, lanes, extras, ...options }: TortureOptions): string {
  const length = hours === null ? `--faults ${faults} --events ${events}` : `--hours ${hours}`;
  const lane = lanes.length > 1 ? 'both' : lanes[0];
  const { seed, rate, workers, peaceSeconds } = options;
  return `npm run torture -- --seed ${seed} ${length} --lane ${lane} --rate ${rate} --workers ${workers} --with ${extras.join() || 'none'} --peace ${peaceSeconds}`;
}

/** What a round of faults did, as one line of progress. */
export function progressLine(
  records: FaultRecord[],
  done: number,
  { hours, faults }: TortureOptions,
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
  const count = hours === null ? `${String(done).padStart(4)}/${faults}` : String(done).padStart(4);
  return `${count} faults  ${ledger.acknowledged.size} acknowledged  ${arrived} arrived  ${what}`;
}

/** Memory and disk at the moment, as one line of progress. */
export function stateLine({ lives, databases }: Usage, ledger: Ledger, arrived: number): string {
  const memory = [...lives].map(([name, all]) => `${name} ${mebibytes(all.at(-1)?.latest ?? 0)}`).join(', ');
  const counts = `${ledger.acknowledged.size} acknowledged, ${arrived} arrived`;
  return `${counts}; databases ${size(databases.latest)}; memory: ${memory}`;
}

const mebibytes = (bytes: number) => `${Math.round(bytes / MEBIBYTE)} MiB`;
const size = (bytes: number | null) => (bytes === null ? 'unknown' : mebibytes(bytes));
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
