// Which traces are recorded: what OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG say.
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../core/process/log.ts';
import type { OtelVariables } from './otel-variables.ts';

const DEFAULT = 'parentbased_always_on';
const PARENT_BASED = 'parentbased_';

/** Failure policy: a name or number that is not known is told, and the default counts, as OpenTelemetry asks for. */
export function samplerOf({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: OtelVariables, log: Log): Sampler {
  const name = OTEL_TRACES_SAMPLER || DEFAULT;
  const isParentBased = name.startsWith(PARENT_BASED);
  const root = rootOf(isParentBased ? name.slice(PARENT_BASED.length) : name, ratioOf(OTEL_TRACES_SAMPLER_ARG, log));
  if (root === null) {
    log.warn({ name }, `OTEL_TRACES_SAMPLER is not known here, so it is ${DEFAULT}`);
    return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function rootOf(name: string, ratio: number): Sampler | null {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : null;
}

function ratioOf(text: string | undefined, log: Log): number {
  if (!text) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  log.warn({ ratio: text }, 'OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1, so it is 1');
  return 1;
}
