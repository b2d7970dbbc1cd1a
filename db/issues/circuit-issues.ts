// The issues of circuits: parts of the statement that changes circuits, so that they open and end with them.
import { MAY_RECOVER, resolvedLately, SUBJECT_KEY } from './subjects.ts';

const CAUSE = 'FAILURE_THRESHOLD';

/**
 * CTEs, `issued` the last, that open issues: each the last one of its route again if it was resolved lately, else a new
 * one; or that count into those that there are.
 * @param input a CTE with `route_id`, `organization_id`, `opened_at`, `sample_delivery_id`, and `issue_id` of those
 * that have opened
 * @param written a CTE of the routes whose circuit was changed
 */
export const openCircuitIssues = (input: string, written: string): string => `opened as (
  select i.issue_id, i.organization_id, 'circuit_open' as kind, '' as source_id, i.route_id, '' as destination_id,
         '${CAUSE}' as cause,
         (select event_id from deliveries d where d.id = i.sample_delivery_id) as sample_event_id, i.sample_delivery_id
  from ${input} i join ${written} w using (route_id) join routes r on r.id = i.route_id
  where i.issue_id is not null
), lately as (
  select x.id, o.issue_id from opened o cross join lateral (${resolvedLately('o')}) l join issues x on x.id = l.id
  order by o.organization_id, o.route_id
  for no key update of x
), reopened as (
  -- somebody may have opened it meanwhile: then this only counts
  update issues x
  set state = case x.state when 'resolved' then 'open' else x.state end,
      changed_at = case x.state when 'resolved' then now() else x.changed_at end, resolved_at = null,
      recovered_at = null,
      count = x.count + 1, last_seen_at = now(), sample_event_id = o.sample_event_id,
      sample_delivery_id = o.sample_delivery_id
  from lately l join opened o using (issue_id) where x.id = l.id
), issued as (
  insert into issues as x (id, organization_id, kind, route_id, cause, count, first_seen_at, last_seen_at,
    sample_event_id, sample_delivery_id)
  select o.issue_id, o.organization_id, o.kind, o.route_id, o.cause, 1, now(), now(), o.sample_event_id,
         o.sample_delivery_id
  from opened o
  where not exists (select from lately l where l.issue_id = o.issue_id)
  order by o.organization_id, o.route_id
  on conflict (${SUBJECT_KEY}, cause) where state <> 'resolved' do update
    set count = x.count + 1, last_seen_at = excluded.last_seen_at, sample_event_id = excluded.sample_event_id,
        sample_delivery_id = excluded.sample_delivery_id
)`;

/**
 * A CTE `settled` that resolves the issues of circuits that are closed.
 * @param input has `state` too, and `wake` of those that have changed it
 */
export const closeCircuitIssues = (input: string, written: string): string => `settled as (
  update issues x set state = 'resolved', resolved_at = now(), changed_at = now()
  from ${input} i join ${written} w using (route_id)
  where i.state = 'closed' and i.wake and x.organization_id = i.organization_id and x.kind = 'circuit_open'
    and x.route_id = i.route_id
    and x.state in ${MAY_RECOVER}
)`;
