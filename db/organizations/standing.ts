// What an organization may do at the moment: its limits, and whether it is suspended.
import { LRUCache } from 'lru-cache';
import type { Plan } from '../../core/config/access.ts';
import { type LimitOverrides, type Limits, limitsOf } from '../../core/fairness/limits.ts';
import type { Queryable } from '../connections/pool.ts';

export interface Standing {
  limits: Limits;
  suspended: boolean;
}

export interface StandingRow {
  plan: Plan;
  limits: LimitOverrides;
  suspended: boolean;
}

// A change is in force after this time at the latest, in every process.
const MAX_AGE_MS = 5000;
const MAX_CACHED = 10_000;

export function standingOf({ plan, limits, suspended }: StandingRow): Standing {
  return { limits: limitsOf(plan, limits), suspended };
}

/** Null when the organization was deleted. */
async function loadStanding(db: Queryable, organizationId: string): Promise<Standing | null> {
  const { rows } = await db.query<StandingRow>({
    name: 'load-standing',
    text: 'select plan, limits, suspended_at is not null as suspended from organizations where id = $1',
    values: [organizationId],
  });
  return rows[0] ? standingOf(rows[0]) : null;
}

export type Standings = (organizationId: string) => Promise<Standing | null>;

/**
 * Looks organizations up, each at most every five seconds; concurrent look-ups share a query.
 * Failure policy: a failed query is thrown and not kept.
 */
export function createStandings(db: Queryable): Standings {
  const cached = new LRUCache<string, Promise<Standing | null>>({ max: MAX_CACHED, ttl: MAX_AGE_MS });
  return (organizationId) => {
    const known = cached.get(organizationId);
    if (known) return known;
    const loaded = loadStanding(db, organizationId);
    cached.set(organizationId, loaded);
    loaded.catch(() => cached.delete(organizationId));
    return loaded;
  };
}

/** The `transformMsPerMinute` of organizations; of one that was deleted meanwhile there is nothing to run any more. */
export function transformBudgets(standings: Standings): (organizationId: string) => Promise<number> {
  return async (organizationId) => (await standings(organizationId))?.limits.transformMsPerMinute ?? 0;
}
