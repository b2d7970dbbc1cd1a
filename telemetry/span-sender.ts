// Sends spans over OTLP, in groups, apart from the work they are about.
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { causeOf } from '../core/process/log-cause.ts';
import { processResource, tellProblems } from './open-telemetry.ts';
import type { TracingOptions } from './tracing.ts';
import type { Log } from '../core/process/log.ts';
import type { OtelVariables } from './otel-variables.ts';

// By the specification of OpenTelemetry, "Batch Span Processor".
const DELAY_MS = 5000;
const EXPORT_TIMEOUT_MS = 30_000;
const QUEUE = 2048;
const GROUP = 512;
// Spans take about a kilobyte each while they wait.
const LARGEST_QUEUE = 100_000;
const HOUR_MS = 3_600_000;
// How long the last spans may take at the end of the process.
const LAST_EXPORT_MS = 2000;

/**
 * Failure policy: spans that cannot be sent, or for which the queue has no room, are lost, and the log says so; nobody
 * waits for them.
 */
export function createSpanSender({ role, version, env, log }: TracingOptions): {
  tracer: Tracer;
  stop(): Promise<void>;
} {
  tellProblems(log);
  const maxQueueSize = within(env.OTEL_BSP_MAX_QUEUE_SIZE, LARGEST_QUEUE, QUEUE);
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    scheduledDelayMillis: within(env.OTEL_BSP_SCHEDULE_DELAY, HOUR_MS, DELAY_MS),
    exportTimeoutMillis: within(env.OTEL_BSP_EXPORT_TIMEOUT, HOUR_MS, EXPORT_TIMEOUT_MS),
    maxQueueSize,
    maxExportBatchSize: Math.min(maxQueueSize, within(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, LARGEST_QUEUE, GROUP)),
  });
  const sampler = samplerOf(env, log);
  const provider = new TracerProvider({
    resource: processResource(role, version),
    sampler,
    spanProcessors: [processor],
  });
  log.info({ sampler: String(sampler) }, 'traces are sent over OTLP');
  return {
    tracer: provider.getTracer('hookyard', version),
    async stop() {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`Not sent within ${LAST_EXPORT_MS} ms`)), LAST_EXPORT_MS);
      await Promise.race([provider.shutdown(), late.promise])
        .catch((error: unknown) => log.warn({ cause: causeOf(error) }, 'failed to send the last spans'))
        .finally(() => clearTimeout(timer));
    },
  };
}

/** @returns the default for what is no whole number from 1 to the largest */
function within(text: string | undefined, largest: number, byDefault: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= largest ? value : byDefault;
}

// Which traces are recorded: what OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG say.

const DEFAULT = 'parentbased_always_on';

/** Failure policy: a name or number that is not known is told, and the default counts, as OpenTelemetry asks for. */
export function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: OtelVariables, log: Log): Sampler {
  const name = OTEL_TRACES_SAMPLER || DEFAULT;
  const roots = new Map<string, Sampler>([
    ['always_on', new AlwaysOnSampler()],
    ['always_off', new AlwaysOffSampler()],
    ['traceidratio', new TraceIdRatioBasedSampler(ratioOf(OTEL_TRACES_SAMPLER_ARG, log))],
  ]);
  const root = roots.get(name.replace(/^parentbased_/, ''));
  if (root !== undefined) return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
  log.warn({ name }, `OTEL_TRACES_SAMPLER has an unknown value; using ${DEFAULT}`);
  return new ParentBasedSampler({ root: new AlwaysOnSampler() });
}

function ratioOf(text: string | undefined, log: Log): number {
  if (!text) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  log.warn({ ratio: text }, 'OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1; using 1');
  return 1;
}
