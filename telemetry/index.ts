// Metrics of a process: the same start for API and worker. One listener a process, and OTLP when its variables are set.
import type { Settings } from '../core/config/config.ts';
import type { Log } from '../core/process/log.ts';
import type { Role } from '../core/metrics/instruments.ts';
import { metricsPort } from '../core/metrics/ports.ts';
import {
  buildInfo,
  cpuSeconds,
  databasePoolWaiting,
  gcDuration,
  heapLimit,
  heapUsed,
  loopUtilization,
  type PoolName,
  residentMemory,
  startTime,
} from '../core/metrics/process.ts';
import type { Pool } from '../db/connections/pool.ts';
import { type Answer, startListener } from './listener.ts';
import { type OtelVariables, sendsMetrics } from './otel-variables.ts';
import { type SamplerDeps, startSampler } from './sampler.ts';
import { constants, performance, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

export interface Readiness {
  problems: string[];
  facts: Record<string, unknown>;
}

export interface MetricsOptions extends Pick<SamplerDeps, 'pool'> {
  role: Role;
  version: string;
  settings: SamplerDeps['settings'] & Pick<Settings, 'OTEL_EXPORTER_PROMETHEUS_PORT' | 'OTEL_EXPORTER_PROMETHEUS_HOST'>;
  env: OtelVariables;
  pools: Partial<Record<PoolName, Pool>>;
  /** Answers `/readyz`; without it there are no probes on this port. */
  readiness?: () => Promise<Readiness>;
  /** Metrics of others, as text; undefined: none, or they are away. */
  others?: () => Promise<string | undefined>;
  log: Log;
}

export type Metrics = Awaited<ReturnType<typeof startMetrics>>;

/** Does nothing when nobody asks for metrics. Never throws. */
export async function startMetrics(options: MetricsOptions) {
  const { role, version, settings, env, pools, pool, log } = options;
  const port = metricsPort(settings, role);
  if (port === 0 && !sendsMetrics(env)) return { stop: async () => {} };
  // OpenTelemetry is not loaded where nobody asks for metrics.
  const { createExporters } = await import('./exporters.ts');
  const sampler = startSampler({ pool, settings, log });
  const exporters = await createExporters({ role, version, env, log }, sampler.refresh);
  const stops = [
    watchNode(),
    buildInfo.readFrom(() => [[{ version, role, node_version: process.versions.node }, 1]]),
    databasePoolWaiting.readFrom(() =>
      Object.entries(pools).flatMap(([name, each]) =>
        each ? [[{ pool: name as PoolName }, each.waitingCount] as const] : [],
      ),
    ),
  ];
  const host = settings.OTEL_EXPORTER_PROMETHEUS_HOST;
  const pages = pagesOf(options, exporters.text);
  const listener = port === 0 ? undefined : await startListener({ host, port, pages, log });
  return {
    async stop() {
      await listener?.close();
      await exporters.stop();
      await sampler.stop();
      for (const stop of stops) stop();
    },
  };
}

function pagesOf(
  { readiness, others }: MetricsOptions,
  text: () => Promise<string>,
): Record<string, () => Promise<Answer>> {
  const metrics = async (): Promise<Answer> => {
    const [own, ofOthers = ''] = await Promise.all([text(), others?.()]);
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: own + ofOthers };
  };
  if (readiness === undefined) return { '/metrics': metrics };
  return {
    '/metrics': metrics,
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const { problems, facts } = await readiness();
      return problems.length === 0
        ? json(200, { status: 'ok', ...facts })
        : json(503, { status: 'not_ready', problems, ...facts });
    },
  };
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` };
}

// What Node tells of itself: memory, processor time, garbage collection.

const GC_TYPES = new Map<number, 'major' | 'minor' | 'incremental' | 'weakcb'>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

function watchNode(): () => void {
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
