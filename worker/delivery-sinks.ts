// What the delivery workflow tells the worker that runs it, beside its history.
import type { InjectedSinks } from '@temporalio/worker';
import type { DeliverySinks } from '../workflows/delivery-attempt.ts';

/**
 * Every Temporal worker that runs deliveries needs them.
 * @param onAsked called when the first attempt of a delivery is asked for as an activity that any worker may make
 */
export const deliverySinks = (onAsked: (deliveryId: string) => void): InjectedSinks<DeliverySinks> => ({
  firstAttempt: { asked: { fn: (_info, deliveryId) => onAsked(deliveryId), callDuringReplay: false } },
});
