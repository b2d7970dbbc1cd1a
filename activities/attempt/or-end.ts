// Endless retries are right while our infrastructure is unavailable. They are wrong for a delivery with a value that PostgreSQL
// refuses: it would retry for ever and hold its place. Such a delivery ends.
import { type ErrorSummary, openError, ownWords } from '../../core/text/error-summary.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { isRefusedValue, refusalOf } from '../../db/connections/database-errors.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import type { AttemptDeps } from './deps.ts';
import type { AttemptRequest } from '../types.ts';

/** An outcome of an attempt. */
type Ended = { status: 'failed' | 'closed'; statusCode: number | null; error: ErrorSummary | null };

/**
 * Runs a step of one delivery's attempt, or ends the delivery when PostgreSQL refuses a value of it.
 * @throws other errors of `step`. Also when the delivery cannot be ended: then its values are not the cause, since the statement
 * that ends it uses none of them
 */
export async function orEnd<Outcome>(
  deps: Pick<AttemptDeps, 'pool' | 'contexts' | 'log'>,
  request: AttemptRequest,
  step: () => Promise<Outcome>,
): Promise<Outcome | Ended> {
  try {
    return await step();
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    return end(deps, request, error);
  }
}

async function end(
  { pool, contexts, log }: Pick<AttemptDeps, 'pool' | 'contexts' | 'log'>,
  request: AttemptRequest,
  error: unknown,
): Promise<Ended> {
  const { deliveryId, eventId, attempt } = request;
  const context = await contexts.submit(request);
  if (!context) return { status: 'closed', statusCode: null, error: null };
  const reason = ownWords`Attempt ${attempt} was given up: ${refusalOf(error)}`;
  const { organizationId, statusCode } = context;
  await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [deliveryId], reason: openError(reason) });
  log.error(
    { deliveryId, eventId, attempt, cause: causeOf(error) },
    'delivery ended: PostgreSQL refused a value of it',
  );
  return { status: 'failed', statusCode, error: reason };
}
