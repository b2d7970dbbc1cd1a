// How busy the event loop of this thread and the machine are: the share of the time in which they work instead of waiting.
import { cpus } from 'node:os';

const LOOK_EVERY_MS = 250;

/** Returns a function that says how busy the event loop is, 0 to 1: in the last quarter of a second, or since it was last asked. */
export function measuredLoopUse(): () => number {
  return since(
    () => performance.eventLoopUtilization(),
    (before, now) => performance.eventLoopUtilization(now, before).utilization,
  );
}

/** The same for all processors of the machine together, whoever uses them. */
export function measuredMachineUse(): () => number {
  return since(processorTimes, (before, now) => {
    const total = now.total - before.total;
    return total > 0 ? 1 - (now.idle - before.idle) / total : 0;
  });
}

/** Of all processors since the machine was started, ms. */
function processorTimes(): { idle: number; total: number } {
  let idle = 0;
  let total = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, total };
}

function since<Sample>(look: () => Sample, useBetween: (before: Sample, now: Sample) => number): () => number {
  let before = look();
  let lookedAt = performance.now();
  let use = 0;
  return () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return use;
    const now = look();
    use = useBetween(before, now);
    before = now;
    lookedAt = performance.now();
    return use;
  };
}
