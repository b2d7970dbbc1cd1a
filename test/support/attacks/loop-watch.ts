// Tells how long the event loop of a process under test was held: the processor time of its thread in one turn, so that
// a busy machine changes nothing.

const REPORT_FROM_MS = 100;
/**
 * A turn of a loop must be shorter, whatever a tenant or a stranger sends: ten times what compiling a schema may take
 * (api/ingest/route-matching.ts).
 */
export const LONGEST_TURN_MS = 200;

// Threads inherit the import; only the process's own loop counts.
const watcher = `import { isMainThread } from 'node:worker_threads';
  if (isMainThread) {
    let before = process.threadCpuUsage();
    setInterval(() => {
      const { user, system } = process.threadCpuUsage(before);
      before = process.threadCpuUsage();
      const ms = Math.round((user + system) / 1000);
      if (ms >= ${REPORT_FROM_MS}) process.stderr.write('LOOP HELD ' + ms + ' ms\\n');
    }, 1).unref();
    process.stderr.write('LOOP WATCHED\\n');
  }`;

/** Settings of a process that is to be watched. */
export const LOOP_WATCH = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watcher)}` };

/** The longest turns of a watched process since some point of its output, in ms; none when all were short. */
export function longTurns(service: { output(): string }, since = 0): number[] {
  const output = service.output();
  if (!output.includes('LOOP WATCHED')) throw new Error('the process is not watched');
  return [...output.slice(since).matchAll(/LOOP HELD (\d+) ms/g)].map(([, ms]) => Number(ms));
}
