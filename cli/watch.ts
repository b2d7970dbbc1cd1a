// Watching an event until its deliveries have ended.
import { setTimeout as delay } from 'node:timers/promises';
import type { Delivery, EventInFull } from '../client/index.ts';
import { plural } from '../core/text/plural.ts';
import type { Context } from './context.ts';
import { EXIT } from './errors.ts';
import type { Output } from './output.ts';

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2000;

/**
 * Prints each change of the event's deliveries; with --json the event as it ended. Sets exit code 1 unless all were
 * delivered.
 */
export async function watchEvent({ client, output }: Context, id: string): Promise<void> {
  const printed = new Map<string, string>();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS)) {
    const event = await client.getEvent({ id, includeDeliveries: true });
    for (const delivery of event.deliveries ?? []) {
      const line = lineOf(delivery);
      if (printed.get(delivery.id) === line) continue;
      printed.set(delivery.id, line);
      if (output.json) output.note(line);
      else output.line(line);
      pauseMs = FIRST_PAUSE_MS;
    }
    if (event.status !== 'pending') return showEnd(output, event);
    await delay(pauseMs);
  }
}

function showEnd(output: Output, event: EventInFull): void {
  output.result(event, () =>
    output.line(event.routed ? `${event.id}: ${event.status}` : `${event.id} matched no route`),
  );
  if (event.status !== 'delivered') process.exitCode = EXIT.refused;
}

function lineOf({ id, destinationId, status, attemptCount, error, nextAttemptAt }: Delivery): string {
  const tries = attemptCount > 0 ? ` after ${plural(attemptCount, 'attempt')}` : '';
  const next = nextAttemptAt ? `, next at ${nextAttemptAt}` : '';
  return `${id} to ${destinationId}: ${status}${tries}${error && status !== 'delivered' ? ` (${error})` : ''}${next}`;
}
