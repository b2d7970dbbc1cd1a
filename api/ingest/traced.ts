// The span of a webhook, where traces are sent.
import type { TracedWebhook } from '../../core/tracing.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { ApiError } from '../errors.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

/** @param source that has verified it */
export function tracedWebhook(source: SourceRouting, received: Received): TracedWebhook {
  const { organizationId, sourceId } = source;
  const { method, headers, size, receivedAt } = received;
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
