// The issues of circuits: parts of the statement that changes circuits, so that they open and end with them.
// Rules: ISS-03, ISS-05.
import { MAY_RECOVER, SUBJECT_KEY } from './subjects.ts';

/** The cause of each; why its deliveries fail is told by other issues of its route. */
const CAUSE = 'FAILURE_THRESHOLD';

/**
 * A CTE `issued` that opens issues, or counts into those that there are.
 * @param input a CTE with `route_id`, `organization_id`, `opened_at`, `sample_delivery_id`, and `issue_id` of those that have opened
 * @param written a CTE of the routes whose circuit was changed
 */
export const openCircuitIssues = (input: string, written: string): string => `issued as (
  insert into issues as x (id, organization_id, kind, route_id, cause, count, first_seen_at, last_seen_at, sample_event_id,
                           sample_delivery_id)
  select i.issue_id, i.organization_id, 'circuit_open', i.route_id, '${CAUSE}', 1, now(), now(),
         (select event_id from deliveries d where d.id = i.sample_delivery_id), i.sample_delivery_id
  from ${input} i join ${written} w using (route_id) join routes r on r.id = i.route_id
  where i.issue_id is not null
  order by i.organization_id, i.route_id
  on conflict (${SUBJECT_KEY}, cause) where state <> 'resolved' do update
    set count = x.count + 1, last_seen_at = excluded.last_seen_at, sample_event_id = excluded.sample_event_id,
        sample_delivery_id = excluded.sample_delivery_id
)`;

/** A CTE `settled` that resolves the issues of circuits that are closed. @param input has `state` too, and `wake` of those that have changed it */
export const closeCircuitIssues = (input: string, written: string): string => `settled as (
  update issues x set state = 'resolved', resolved_at = now(), changed_at = now()
  from ${input} i join ${written} w using (route_id)
  where i.state = 'closed' and i.wake and x.organization_id = i.organization_id and x.kind = 'circuit_open' and x.route_id = i.route_id
    and x.state in ${MAY_RECOVER}
)`;
