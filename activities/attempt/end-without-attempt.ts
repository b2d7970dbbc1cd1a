// Ends deliveries without sending them, because they can never be sent.
import type { DescribedError } from '../../core/text/error-summary.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { AttemptOutcome } from '../types.ts';
import type { AttemptDeps } from './deps.ts';
import { CLOSED } from './record-later.ts';

export interface Ending {
  ending: 'cancelled' | 'failed' | 'skipped';
  reason: DescribedError;
}

export async function endWithoutAttempt(
  deps: AttemptDeps,
  context: AttemptContext,
  { ending, reason }: Ending,
): Promise<AttemptOutcome> {
  const { organizationId, deliveryId } = context;
  await endDeliveries(deps.pool, ending, { organizationId, deliveryIds: [deliveryId], reason });
  const { summary } = reason;
  deps.log.info(
    { deliveryId, eventId: context.eventId, status: ending, reason: summary },
    'delivery ended without an attempt',
  );
  return ending === 'failed' ? { status: 'failed', statusCode: null, error: summary } : CLOSED;
}
