// Housekeeping of issues: those of what is gone are resolved, and old ones are removed.
// Rules: ISS-05, ISS-07.
import { ISSUE_DAYS } from '../../core/messages/issues.ts';
import type { Queryable } from '../connections/pool.ts';
import { Stride } from '../ranges.ts';

// Rows that one statement removes, at most.
const FORGETTING = new Stride(5000);

// Triggers resolve what is deleted; here is what was counted at the same moment. What a route does not have any more can neither fail
// nor recover; what is counted together names no route, and stays.
const SETTLE = `
update issues set state = 'resolved', resolved_at = now(), changed_at = now() where id = any(array(
  select x.id from issues x left join routes r on r.id = x.route_id
  where x.state <> 'resolved' and (
    (x.route_id is not null and r.id is null)
    or (x.source_id is not null and not exists (select from sources s where s.id = x.source_id))
    or (x.destination_id is not null and not exists (select from destinations d where d.id = x.destination_id))
    or (x.state <> 'ignored' and (
      (x.kind = 'transform_failing' and x.route_id is not null and r.transform_id is null)
      or (x.kind = 'schema_refusing' and x.route_id is not null and r.schema_id is null)
      or (x.kind = 'notification_failing' and x.route_id is not null and r.notify_emails is null))))
  order by x.id for update of x skip locked))`;

const ISSUES = `
delete from issues where id in
  (select id from issues where state = 'resolved' and resolved_at < now() - make_interval(days => $1) limit $2 for update skip locked)`;
const STREAKS = `
delete from issue_streaks where (organization_id, kind, source_id, route_id, destination_id) in
  (select organization_id, kind, source_id, route_id, destination_id from issue_streaks
   where last_at < now() - make_interval(days => $1) limit $2 for update skip locked)`;

/** One step. @returns true when there may be more */
export async function forgetIssues(db: Queryable): Promise<boolean> {
  await db.query(SETTLE);
  const issues = await forget(db, ISSUES);
  const streaks = await forget(db, STREAKS);
  return issues || streaks;
}

function forget(db: Queryable, statement: string): Promise<boolean> {
  return FORGETTING.step(async (size) => {
    const { rowCount } = await db.query(statement, [ISSUE_DAYS, size]);
    return rowCount === size;
  });
}
