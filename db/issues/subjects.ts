// What an issue is about, in statements. Where a kind names no source, route or destination, parameters have an empty
// text.
import { type IssueSubject, REOPENS_WITHIN_MINUTES } from '../../core/messages/issues.ts';

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
