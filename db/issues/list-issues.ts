import type { Issue, IssueKind, IssueState } from '../../core/messages/issues.ts';
import type { Named } from '../../core/messages/message.ts';
import { ISSUE_NAMES } from '../sql/rules.ts';
import { countMatching, type Found, type Part, readPart } from '../sql/list-parts.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

export interface NamedIssue extends Issue {
  source: Named | null;
  route: Named | null;
  destination: Named | null;
}

const COLUMNS = `
${ISSUE_NAMES}, id, organization_id, kind, source_id, route_id, destination_id, cause, state, first_seen_at,
last_seen_at, count, sample_event_id, sample_delivery_id, opened_at, resolved_at, changed_at`;

export interface IssueFilter {
  state?: IssueState;
  kind?: IssueKind;
  sourceId?: string;
  routeId?: string;
  destinationId?: string;
}

export async function listIssues(
  pool: Pool,
  organizationId: string,
  { state, kind, sourceId, routeId, destinationId }: IssueFilter,
  part: Part,
): Promise<Omit<Found, 'ids'> & { issues: NamedIssue[] }> {
  const matching = fragment`
    from issues where organization_id = ${organizationId} and (${state}::text is null or state = ${state})
      and (${kind}::text is null or kind = ${kind})
      and (${sourceId}::text is null or source_id = ${sourceId}
        or route_id in (select id from routes where organization_id = ${organizationId} and source_id = ${sourceId}))
      and (${routeId}::text is null or route_id = ${routeId})
      and (${destinationId}::text is null or destination_id = ${destinationId})`;
  return inSnapshot(pool, async (db) => {
    const { items, ...found } = await readPart(part, {
      total: () => countMatching(db, matching),
      items: (after, limit, offset) => sql(db).rows<NamedIssue>`
        select ${raw(COLUMNS)} ${matching} and (${after}::text is null or id < ${after})
        order by id desc limit ${limit} offset ${offset}`,
      cursorOf: ({ id }) => id,
    });
    return { issues: items, ...found };
  });
}

export async function findIssue(db: Queryable, organizationId: string, id: string): Promise<NamedIssue | null> {
  return sql(db).find<NamedIssue>`
    select ${raw(COLUMNS)} from issues where organization_id = ${organizationId} and id = ${id}`;
}

/**
 * Sets the state of an issue. @returns null when there is none, or when a resolved one is to open whose failure has
 * another since
 * @throws a unique violation (`isUniqueViolation`) when that other one opens at the same moment
 */
export async function changeIssue(
  db: Queryable,
  organizationId: string,
  id: string,
  state: IssueState,
): Promise<NamedIssue | null> {
  // What is set to the state that it has stays as it is. One that opens again has not recovered. Of the issues of one
  // failure only the last one opens again, here and where failures are counted (record-issues.ts, circuit-issues.ts):
  // so the two meet at its row.
  return sql(db).find<NamedIssue>`
    update issues set state = ${state}, changed_at = case when state = ${state} then changed_at else now() end,
      resolved_at = case when ${state} <> 'resolved' then null when state = 'resolved' then resolved_at else now() end,
      recovered_at = case when state = 'resolved' and ${state} <> 'resolved' then null else recovered_at end
    where organization_id = ${organizationId} and id = ${id}
      and not (${state} <> 'resolved' and state = 'resolved' and exists (
        select from issues n
        where n.organization_id = issues.organization_id and n.kind = issues.kind and n.cause = issues.cause
          and n.id <> issues.id
          and coalesce(n.source_id, '') = coalesce(issues.source_id, '')
          and coalesce(n.route_id, '') = coalesce(issues.route_id, '')
          and coalesce(n.destination_id, '') = coalesce(issues.destination_id, '')
          and (n.state <> 'resolved' or (n.resolved_at, n.id) > (issues.resolved_at, issues.id))))
    returning ${raw(COLUMNS)}`;
}
