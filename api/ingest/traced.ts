// The trace of a webhook: that of its sender, or a new one; and its span, where traces are sent.
// Rules: TRC-02.
import { newTraceparent, receivedTrace } from '../../core/http/trace-context.ts';
import type { TracedWebhook, Tracing } from '../../core/process/tracing.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { ApiError } from '../request/errors.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

/**
 * Begins the part of a webhook in its trace, and the trace itself where its sender has none.
 * @param source that has verified it
 */
export function beginTrace(tracing: Tracing | undefined, source: SourceRouting, received: Received): void {
  received.span = tracing?.webhook(tracedWebhook(source, received)) ?? null;
  received.traceparent = received.span?.traceparent ?? madeTrace(received.headerBytes, tracing !== undefined);
}

// Where traces are sent the sampler has decided against this one, for all that follow it. Elsewhere nobody has: receivers that go by
// the flag of their parent record what they would record without it.
const madeTrace = (headers: Received['headerBytes'], isDecided: boolean): string | null =>
  receivedTrace(headers) === null ? newTraceparent(!isDecided) : null;

function tracedWebhook(source: SourceRouting, received: Received): TracedWebhook {
  const { organizationId, sourceId } = source;
  const { method, headerBytes: headers, size, receivedAt } = received;
  return { organizationId, sourceId, method, headers, size, receivedAt };
}

/**
 * Ends the span of a webhook that is not accepted, for a reason of ours. What is refused for what its sender did is not recorded: it is
 * among the refused webhooks, and a sender at its limit would take the room of others' spans.
 */
export async function endingSpan<T>(received: Received, accept: () => Promise<T>): Promise<T> {
  try {
    return await accept();
  } catch (error) {
    const { status, code } = failureOf(error);
    if (status >= 500) received.span?.failed(status, code);
    throw error;
  }
}

function failureOf(error: unknown): { status: number; code: string } {
  if (error instanceof ApiError) return { status: error.status, code: error.code ?? String(error.status) };
  return isTransientDatabaseError(error)
    ? { status: 503, code: 'UNAVAILABLE' }
    : { status: 500, code: 'INTERNAL_ERROR' };
}
