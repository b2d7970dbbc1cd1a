// What an issue is about, in statements. Where a kind names no source, route or destination, parameters have an empty text.
import type { IssueSubject } from '../../core/issues.ts';

/** The columns of a subject as they are compared: the key of the index `issues_unresolved`, but for the cause. */
export const SUBJECT_KEY = `organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, '')`;

/** Whether an issue is about a subject. @param issue an alias of `issues` @param subject one of a row of parameters */
export const isAbout = (issue: string, subject: string): string =>
  `${issue}.organization_id = ${subject}.organization_id and ${issue}.kind = ${subject}.kind
   and coalesce(${issue}.source_id, '') = ${subject}.source_id and coalesce(${issue}.route_id, '') = ${subject}.route_id
   and coalesce(${issue}.destination_id, '') = ${subject}.destination_id`;

/** The states that end by themselves. */
export const MAY_RECOVER = `('open', 'acknowledged')`;

/** A subject as a parameter. */
export function subjectRow({ organizationId, kind, sourceId, routeId, destinationId }: IssueSubject) {
  return {
    organization_id: organizationId,
    kind,
    source_id: sourceId ?? '',
    route_id: routeId ?? '',
    destination_id: destinationId ?? '',
  };
}
