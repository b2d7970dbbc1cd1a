// What metrics and traces have in common where they are handed to OpenTelemetry.
import { randomUUID } from 'node:crypto';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { type Log, throttled } from '../core/process/log.ts';
import type { Role } from '../core/metrics/instruments.ts';

// Sums of two processes must not look like those of one.
const INSTANCE = randomUUID();

/** This process. What the operator names comes last, and counts. */
export function processResource(role: Role, version: string): Resource {
  const named = resourceFromAttributes({
    'service.name': `hookyard-${role}`,
    'service.version': version,
    'service.instance.id': INSTANCE,
  });
  return defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** The same for an exporter that is not of OpenTelemetry for JavaScript: all but what names that. */
export function resourceTexts(role: Role, version: string): Record<string, string> {
  const { attributes } = processResource(role, version);
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      typeof value === 'string' && !name.startsWith('telemetry.') ? [[name, value]] : [],
    ),
  );
}

/**
 * OpenTelemetry's own warnings, such as a receiver that is away, in the log of the process: the first of a kind at
 * once, then one line a minute. One logger a process.
 */
export function tellProblems(log: Log): void {
  const tell = (message: string, ...facts: unknown[]) => {
    const text = withoutStack(message);
    // Numbers differ from one time to the next.
    const kind = `OpenTelemetry: ${text.replaceAll(/\d+/g, 'N')}`;
    throttled(log).warn({ facts: facts.length > 0 ? facts.map(String) : undefined }, `OpenTelemetry: ${text}`, kind);
  };
  diag.setLogger(
    { error: tell, warn: tell, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** An error comes as JSON of all its properties. */
function withoutStack(message: string): string {
  if (!message.startsWith('{')) return message;
  try {
    const { message: text, code } = JSON.parse(message) as { message?: unknown; code?: unknown };
    return [text, code].filter((part) => typeof part === 'string' && part !== '').join(' ') || message;
  } catch {
    return message;
  }
}
