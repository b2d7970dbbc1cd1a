// The limit of the backlog, and which webhooks are refused above it: organizations share it (fair-share.ts), and the destinations
// of an organization share what is left for it.
//
// A destination's backlog may not exceed what its organization may still take. So a single stuck destination leaves its
// organization room for others, and any number of them does.
import { leftFor } from './fair-share.ts';

/** Hysteresis: reopens at this part of the closing limit, so that it does not open and close with every delivery. */
const REOPENS_AT = 0.9;

export interface Waiting {
  /** Deliveries that wait, of all organizations. */
  total: number;
  /** Organizations with the largest backlogs, in any order; a missing one has fewer than any of these. */
  organizations: { id: string; waiting: number }[];
  /** The same for destinations. */
  destinations: { id: string; organizationId: string; waiting: number }[];
  /** Whether there is only one organization. */
  alone: boolean;
}

export interface Admission {
  /** Nothing is accepted. */
  full: boolean;
  /** Webhooks of these are refused. */
  fullOrganizations: ReadonlySet<string>;
  /** Webhooks to one of these are refused. */
  fullDestinations: ReadonlySet<string>;
  /** How many deliveries may be accepted before a destination or an organization that is open, or the whole, could be full. */
  margin: number;
}

/** The initial state. */
export const ALL_OPEN: Admission = {
  full: false,
  fullOrganizations: new Set(),
  fullDestinations: new Set(),
  margin: Number.POSITIVE_INFINITY,
};

/**
 * From which part of the limit on an organization or a destination can be full.
 * @param alone whether there is only one organization
 */
export const mayBeFullFrom = (limit: number, alone: boolean): number => limit / (alone ? 2 : 4);

/**
 * Which organizations and destinations accept deliveries.
 * @param limit maximum backlog in deliveries
 * @param before the last decision
 */
export function admit(limit: number, waiting: Waiting, before: Admission): Admission {
  const { total, alone } = waiting;
  const shared = { limit, taken: total, alone };
  const full = total >= (before.full ? limit * REOPENS_AT : limit);
  const own = new Map(waiting.organizations.map(({ id, waiting: count }) => [id, count]));
  const left = (organizationId: string) => leftFor(shared, own.get(organizationId) ?? 0);
  // Each accepted delivery closes the gap by two: the backlog grows by one, and what is left shrinks by one.
  let margin = leftFor(shared, 0) / 2;

  const fullOrganizations = new Set<string>();
  for (const [id, count] of alone ? [] : own) {
    // The most that it may have while the others stay as they are.
    const most = count + left(id);
    if (count >= (before.fullOrganizations.has(id) ? most * REOPENS_AT : most)) fullOrganizations.add(id);
    else margin = Math.min(margin, left(id));
  }
  const fullDestinations = new Set<string>();
  for (const { id, organizationId, waiting: count } of waiting.destinations) {
    const most = left(organizationId);
    if (count >= (before.fullDestinations.has(id) ? most * REOPENS_AT : most)) fullDestinations.add(id);
    else margin = Math.min(margin, (most - count) / 2);
  }
  return { full, fullOrganizations, fullDestinations, margin: Math.max(0, margin) };
}
