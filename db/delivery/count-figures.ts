// The figures of organizations (delivery_figures): parts of the statements that record attempts and end deliveries, so that a figure
// is committed with what it counts. Every ending of a delivery is final, and is counted once, in the bucket of its `finished_at`.
import { addedUp, bucketOf } from '../sql-rules.ts';

/** The columns that are added up. */
export const FIGURES = [
  'attempts',
  'latency_sum',
  'delivered',
  'failed',
  'failed_over',
  'not_sent',
  'cancelled',
] as const;
export type Figure = (typeof FIGURES)[number];
/** The columns that tell rows apart, in the order of the key. */
const FIGURES_KEY = 'organization_id, bucket, destination_id, route_id, source_id, status_code';

/** Stands for the status code of an attempt without an answer. */
export const NO_ANSWER = 0;
/** Stands for every code outside of 100 to 599, so that what a destination answers cannot make ever more rows. */
export const OTHER_CODE = 600;
/** Stands for the code of deliveries that ended without an attempt. */
const NO_ATTEMPT = -1;

/**
 * A CTE `figured` that counts attempts, and what they ended. It writes few rows for a group: one for each way and code.
 * Rows are written in the order of the key, and before those of `delivery_stats` when it comes after these in the statement
 * (PostgreSQL runs such parts from the last to the first): statements that meet queue instead of deadlocking.
 * @param changed the CTE of the deliveries that the attempts changed
 */
export const countAttempted = (changed: string): string => `figured as (
  insert into delivery_figures as s (${FIGURES_KEY}, attempts, latency_sum, delivered, failed, failed_over)
  select organization_id, ${bucketOf('completed_at')}, destination_id, coalesce(route_id, ''), source_id,
         case when status_code is null then ${NO_ANSWER} when status_code between 100 and 599 then status_code else ${OTHER_CODE} end,
         count(*), coalesce(sum(latency) filter (where status_code is not null), 0),
         count(*) filter (where delivery_status = 'delivered'), count(*) filter (where delivery_status = 'failed'),
         count(*) filter (where delivery_status = 'failed_over')
  from ${changed}
  group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  ${addedUp(FIGURES_KEY, FIGURES)}
)`;

/** How a delivery ends without an attempt. `not_sent`: it fails. */
type Ending = 'failed_over' | 'not_sent' | 'cancelled';

/**
 * A CTE `figured` that counts deliveries which end now without an attempt; it writes nothing when there are none.
 * @param ended a CTE with their organization_id, destination_id, route_id and source_id
 * @param conditions which of its rows end in which way
 */
export function countEndings(ended: string, conditions: Partial<Record<Ending, string>>): string {
  const ways = Object.entries(conditions);
  return `figured as (
  insert into delivery_figures as s (${FIGURES_KEY}, ${ways.map(([ending]) => ending).join(', ')})
  select e.organization_id, ${bucketOf('now()')}, e.destination_id, coalesce(e.route_id, ''), e.source_id, ${NO_ATTEMPT},
         ${ways.map(([, condition]) => `count(*) filter (where ${condition})`).join(', ')}
  from ${ended} e
  where ${ways.map(([, condition]) => `(${condition})`).join(' or ')}
  group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  ${addedUp(
    FIGURES_KEY,
    ways.map(([ending]) => ending),
  )}
)`;
}
