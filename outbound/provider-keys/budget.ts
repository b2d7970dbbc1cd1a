// How much the webhooks of strangers may make this process ask providers: so many questions a minute for a source, and for an organization.
// Rules: PRV-19.
import { LRUCache } from 'lru-cache';
import { KeysAwayError } from '../../core/verification/published/keys.ts';

const MINUTE_MS = 60_000;
const PER_SOURCE = 10;
const PER_ORGANIZATION = 60;
const MAX_COUNTS = 20_000;

/** For whom a provider is asked. */
export interface Asker {
  organizationId: string;
  sourceId: string;
}

/**
 * Makes what counts one question.
 * @param now in ms
 */
export function createBudget(now: () => number): (asker: Asker) => void {
  const counts = new LRUCache<string, { since: number; count: number }>({ max: MAX_COUNTS });

  function countOf(id: string): { since: number; count: number } {
    const known = counts.get(id);
    if (known !== undefined && now() - known.since < MINUTE_MS) return known;
    const begun = { since: now(), count: 0 };
    counts.set(id, begun);
    return begun;
  }

  /** @throws KeysAwayError when there are no more for this minute */
  return ({ organizationId, sourceId }) => {
    const [ofSource, ofOrganization] = [countOf(sourceId), countOf(organizationId)];
    if (ofSource.count >= PER_SOURCE || ofOrganization.count >= PER_ORGANIZATION)
      throw new KeysAwayError('The provider was asked for too many keys in this minute');
    ofSource.count += 1;
    ofOrganization.count += 1;
  };
}
