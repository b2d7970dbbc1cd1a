// Traces of a process: the same start for API and worker. Nothing is loaded, and nothing is done for a webhook, unless
// the standard variables of OpenTelemetry say where traces go.
import type { Log } from '../core/process/log.ts';
import type { Role } from '../core/metrics/instruments.ts';
import type { Tracing } from '../core/process/tracing.ts';
import { type OtelVariables, PROTOCOL, sendsTraces } from './otel-variables.ts';

export interface TracingOptions {
  role: Role;
  version: string;
  env: OtelVariables;
  log: Log;
}

/** @returns `tracing` undefined: traces are not sent; `stop` sends what is left, for two seconds at most */
export async function startTracing(
  options: TracingOptions,
): Promise<{ tracing: Tracing | undefined; stop(): Promise<void> }> {
  const { env, log } = options;
  const none = { tracing: undefined, stop: async () => {} };
  if (!sendsTraces(env)) return none;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || PROTOCOL;
  if (protocol !== PROTOCOL) {
    log.warn({ protocol }, `traces are not sent: set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to ${PROTOCOL}`);
    return none;
  }
  const [{ createSpanSender }, { createTracing }] = await Promise.all([
    import('./span-sender.ts'),
    import('./spans.ts'),
  ]);
  const sender = createSpanSender(options);
  return { tracing: createTracing(sender.tracer), stop: sender.stop };
}
