// Deliveries that end before they are sent, because they never can be.
import { toldError } from '../../core/told-error.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { AttemptOutcome } from '../types.ts';
import type { AttemptDeps } from './deps.ts';
import { CLOSED } from './record-later.ts';

export interface Ending {
  ending: 'cancelled' | 'failed' | 'skipped';
  reason: string;
}

export async function endWithoutAttempt(
  deps: AttemptDeps,
  context: AttemptContext,
  { ending, reason }: Ending,
): Promise<AttemptOutcome> {
  const { organizationId, deliveryId } = context;
  await endDeliveries(deps.pool, ending, { organizationId, deliveryIds: [deliveryId], reason });
  const redacted = toldError(reason);
  deps.log.info(
    { deliveryId, eventId: context.eventId, status: ending, reason: redacted },
    'delivery ended without an attempt',
  );
  return ending === 'failed' ? { status: 'failed', statusCode: null, error: redacted } : CLOSED;
}
