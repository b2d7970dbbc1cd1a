// How much of the cores' time went to others: it explains slow rounds. A virtual machine on Linux counts what the hypervisor gave
// to other machines as steal in the first line of /proc/stat; what other programs of this machine used is in /proc/<pid>/stat. Both
// in clock ticks (proc_stat(5), proc_pid_stat(5)).
import { readdirSync, readFileSync } from 'node:fs';

/** Shares of the time of all cores, in percent. */
export interface Taken {
  /** Given to other machines by the hypervisor. */
  hypervisor: number;
  /** Used by programs of this machine that the bench did not start. The kernel's own threads do not count: they work for the bench, too. */
  programs: number;
}

/** A process as the kernel lists it. */
export interface Listed {
  pid: number;
  parent: number;
  /** Its CPU so far and that of the children it has waited for. */
  ticks: number;
}

const STEAL = 7;
// Guest time, which follows, is part of user time already.
const STATES = 8;
// The parent of all threads of the kernel.
const KTHREADD = 2;

/** Starts to measure. @returns what others took since then; undefined where it is not counted */
export function startMeter(): () => Taken | undefined {
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
export const takenInAll = ({ hypervisor, programs }: Taken): number => hypervisor + programs;

/** For example "7.3 % of the cores (hypervisor 1.1 %, other programs 6.2 %)". */
export function describeTaken(taken: Taken): string {
  const { hypervisor, programs } = taken;
  return `${takenInAll(taken).toFixed(1)} % of the cores (hypervisor ${hypervisor.toFixed(1)} %, other programs ${programs.toFixed(1)} %)`;
}

/**
 * Ticks of all processes outside of the tree below `root`, kernel threads left out. The sum, and not each process, is compared over
 * time: what an ended process used is then counted by the parent that waited for it.
 */
export function ticksOfOthers(processes: Listed[], root: number): number {
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

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
