// What Node tells of itself: memory, processor time, garbage collection.
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import {
  cpuSeconds,
  gcDuration,
  heapLimit,
  heapUsed,
  loopUtilization,
  residentMemory,
  startTime,
} from '../core/metrics/process.ts';

const GC_TYPES = new Map<number, 'major' | 'minor' | 'incremental' | 'weakcb'>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** Starts to measure; all but the garbage collection is read when it is exported. @returns ends it */
export function watchNode(): () => void {
  const startedAt = performance.timeOrigin / 1000;
  const stops = [
    cpuSeconds.readFrom(() => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    residentMemory.readFrom(() => process.memoryUsage.rss()),
    startTime.readFrom(() => startedAt),
    heapUsed.readFrom(() => getHeapStatistics().used_heap_size),
    heapLimit.readFrom(() => getHeapStatistics().heap_size_limit),
    loopUtilization.readFrom(() => performance.eventLoopUtilization().utilization),
  ];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { detail?: { kind?: number } };
      const type = GC_TYPES.get(detail?.kind ?? -1);
      if (type !== undefined) gcDuration.observe({ v8js_gc_type: type }, duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    for (const stop of stops) stop();
  };
}
