// Ordering keys that a failed delivery blocks: the block ends after its time, and after some minutes it is an issue.
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { endHolds } from '../../db/delivery/ordering.ts';
import { takeLongBlocked, unblockedDestinations } from '../../db/issues/blocked-keys.ts';
import type { DuePart } from './due.ts';

const EVERY_MS = 1000;
const MOST = 500;

export function dueOrdering(pool: Pool, issues: IssueSink): DuePart {
  return {
    what: 'blocked ordering keys',
    kinds: ['ordering'],
    everyMs: () => EVERY_MS,
    async round() {
      const ended = await endHolds(pool, MOST);
      const blocked = await takeLongBlocked(pool, MOST);
      for (const { organizationId, destinationId, deliveryId, eventId } of blocked) {
        const failure = { cause: 'RETRIES_EXHAUSTED', at: Date.now(), isFinal: true, eventId, deliveryId };
        issues.failed(issueSubjects.order(organizationId, destinationId), failure);
      }
      for (const { organizationId, destinationId } of await unblockedDestinations(pool))
        issues.worked(issueSubjects.order(organizationId, destinationId));
      return ended === MOST || blocked.length === MOST ? 0 : null;
    },
  };
}
