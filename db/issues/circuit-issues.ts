// Parts of statements that change issues: what an issue is about, and the issues of circuits, which open and end in the
// statement that changes the circuit.
import { type IssueSubject, REOPENS_WITHIN_MINUTES } from '../../core/messages/issues.ts';

// What an issue is about, in statements. Where a kind names no source, route or destination, parameters have an empty
// text.

/** The columns of a subject as they are compared: the key of the index `issues_unresolved`, but for the cause. */
export const SUBJECT_KEY = `organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''),
  coalesce(destination_id, '')`;

/** Whether an issue is about a subject. @param issue an alias of `issues` @param subject one of a row of parameters */
export const isAbout = (issue: string, subject: string): string =>
  `${issue}.organization_id = ${subject}.organization_id and ${issue}.kind = ${subject}.kind
   and coalesce(${issue}.source_id, '') = ${subject}.source_id and coalesce(${issue}.route_id, '') = ${subject}.route_id
   and coalesce(${issue}.destination_id, '') = ${subject}.destination_id`;

/**
 * The last issue of a subject and cause that was resolved so lately that a failure opens it again.
 * @param failure one of a row of parameters
 */
export const resolvedLately = (failure: string): string => `
  select i.id from issues i
  where ${isAbout('i', failure)} and i.cause = ${failure}.cause and i.state = 'resolved'
    and i.resolved_at > now() - make_interval(mins => ${REOPENS_WITHIN_MINUTES})
    and not exists (select from issues o where ${isAbout('o', failure)} and o.cause = ${failure}.cause
      and o.state <> 'resolved')
  order by i.resolved_at desc, i.id desc limit 1`;

export const MAY_RECOVER = `('open', 'acknowledged')`;

export function subjectRow({ organizationId, kind, sourceId, routeId, destinationId }: IssueSubject) {
  return {
    organization_id: organizationId,
    kind,
    source_id: sourceId ?? '',
    route_id: routeId ?? '',
    destination_id: destinationId ?? '',
  };
}

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
