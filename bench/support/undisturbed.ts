// Measures again what others disturbed. How much of the cores' time went to others explains slow rounds: a virtual
// machine on Linux counts what the hypervisor gave to other machines as steal in the first line of /proc/stat; what
// other programs of this machine used is in /proc/<pid>/stat. Both in clock ticks (proc_stat(5), proc_pid_stat(5)). Of
// several tries the one they took the least of is kept.
import { readdirSync, readFileSync } from 'node:fs';

/** What others may take of the cores during a measurement, percent. */
const MOST_TAKEN = 5;
/** How often a measurement is repeated at most, where the command line does not say it. */
export const REPEATS = 2;

const STEAL = 7;
// Guest time, which follows, is part of user time already.
const STATES = 8;
// The parent of all threads of the kernel.
const KTHREADD = 2;

// Of the tries that were kept.
const kept: (Taken | undefined)[] = [];
let repeated = 0;
const sinceStart = startMeter();

/**
 * Measures, and again while others take too much. Every round of a bench goes through it, and what is measured in
 * phases, each phase; but not what takes half an hour or changes what is measured next.
 * @param label of the measurement, for example "round 2 of 3"
 * @param options.repeats how often it is measured again at most
 * @param start measures what others take; by default of this machine
 * @returns what the least disturbed try gave
 */
export async function undisturbed<Result>(
  label: string,
  { repeats = REPEATS }: { repeats?: number },
  measure: () => Promise<Result>,
  start: () => () => Taken | undefined = startMeter,
): Promise<Result> {
  let best: { result: Result; taken: Taken | undefined } | undefined;
  for (let tries = 1; ; tries += 1) {
    const meter = start();
    const result = await measure();
    const taken = meter();
    if (!best || lost(taken) < lost(best.taken)) best = { result, taken };
    if (lost(taken) <= MOST_TAKEN || tries > repeats) {
      kept.push(best.taken);
      return best.result;
    }
    repeated += 1;
    console.log(
      `${label}: other load took ${taken ? describeTaken(taken) : 'an unknown share of the cores'}; repeating`,
    );
  }
}

const lost = (taken: Taken | undefined): number => (taken ? takenInAll(taken) : 0);

/** The last lines of a run: what others took, and whether its figures are of a quiet machine. */
export function describeDisturbance(): string {
  const taken = sinceStart();
  if (!taken) return 'other load on the cores is not measured on this system';
  const all = kept.length > 0 ? kept : [taken];
  const isQuiet = all.every((each) => lost(each) <= MOST_TAKEN);
  return [
    `other load took ${describeTaken(taken)}`,
    ...(kept.length > 0
      ? [`during measurements ${kept.map((each) => lost(each).toFixed(1)).join(', ')} %; ${repeated} repeated`]
      : []),
    ...(isQuiet ? [] : [`more than ${MOST_TAKEN} %: measure again when the machine is quieter`]),
  ].join('\n');
}

/** Shares of the time of all cores, in percent. */
export interface Taken {
  /** Given to other machines by the hypervisor. */
  hypervisor: number;
  /**
   * Used by programs of this machine that the bench did not start. The kernel's own threads do not count: they work for
   * the bench, too.
   */
  programs: number;
}

/** A process as the kernel lists it. */
interface Listed {
  pid: number;
  parent: number;
  /** Its CPU so far and that of the children it has waited for. */
  ticks: number;
}

/** Starts to measure. @returns what others took since then; undefined where it is not counted */
function startMeter(): () => Taken | undefined {
  const before = read();
  return () => {
    const after = read();
    if (!before || !after) return undefined;
    const all = sum(after.cores) - sum(before.cores);
    const share = (ticks: number) => (all === 0 ? 0 : (Math.max(0, ticks) / all) * 100);
    return {
      hypervisor: share((after.cores[STEAL] ?? 0) - (before.cores[STEAL] ?? 0)),
      programs: share(after.others - before.others),
    };
  };
}

/** Both together. */
const takenInAll = ({ hypervisor, programs }: Taken): number => hypervisor + programs;

/** For example "7.3 % of the cores (hypervisor 1.1 %, other programs 6.2 %)". */
function describeTaken(taken: Taken): string {
  const { hypervisor, programs } = taken;
  return `${takenInAll(taken).toFixed(1)} % of the cores (hypervisor ${hypervisor.toFixed(1)} %, other programs ${programs.toFixed(1)} %)`;
}

/**
 * Ticks of all processes outside of the tree below `root`, kernel threads left out. The sum, and not each process, is
 * compared over time: what an ended process used is then counted by the parent that waited for it.
 */
function ticksOfOthers(processes: Listed[], root: number): number {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isWithin = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 0 && isWithin(parents.get(pid)));
  return processes
    .filter(({ pid, parent }) => pid !== KTHREADD && parent !== KTHREADD && !isWithin(pid))
    .reduce((total, { ticks }) => total + ticks, 0);
}

function read(): { cores: number[]; others: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const cores = all
    .trim()
    .split(/\s+/)
    .slice(1, 1 + STATES)
    .map(Number);
  return { cores, others: ticksOfOthers(listProcesses(), process.pid) };
}

function listProcesses(): Listed[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        // After the name in parentheses: state, parent (4th field); utime, stime, cutime, cstime are the 14th to 17th.
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const ticks = sum(fields.slice(11, 15).map(Number));
        return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
