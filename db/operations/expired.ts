// Removes what has expired, in steps: idempotency keys, versions that nothing is sent by any more, replaced secrets,
// refused webhooks, ended issues. Rows that other processes are using at this moment are skipped: waiting for each
// other's would deadlock.
import { errorText } from '../../core/text/error-summary.ts';
import { REFUSAL_DAYS } from '../../core/ingest/refusals.ts';
import { idFloor } from '../../core/text/ids.ts';
import { ISSUE_DAYS } from '../../core/messages/issues.ts';
import type { Queryable } from '../connections/pool.ts';
import { DAY_MS } from '../sql/partitions.ts';
import { forgetStep, Stride } from '../sql/ranges.ts';
import { databaseTime } from '../sql/rules.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

const KEYS = new Stride(10_000);
const REFUSALS = new Stride(5000);
const ISSUES = new Stride(5000);

const KEYS_TABLE = { table: 'idempotency_keys', key: 'source_id, key_hash' };

/** Removes one step of the idempotency keys of webhooks. @returns true when there may be more, as the others below */
export const forgetIdempotencyKeys = (db: Queryable): Promise<boolean> =>
  forgetStep(db, KEYS, KEYS_TABLE, fragment`expires_at < now() order by expires_at`);

/**
 * Removes earlier versions of routes, transforms and destinations. A delivery is made by the version that is current at
 * that moment, or by that of the delivery that it repeats. So the event of each was received before the version was
 * replaced, and has no payload any more. The clocks of processes, which say when a webhook came, may differ by a day.
 * @param day the first whose payloads are kept, in days since 1970
 */
export async function forgetEarlierVersions(db: Queryable, day: number): Promise<void> {
  await sql(db).run`delete from earlier_versions where replaced_at < ${new Date((day - 1) * DAY_MS)}`;
}

const ROTATED = [
  ['destinations', 'previous_signing_secret', 'previous_signing_secret_until'],
  ['sources', 'previous_verification_secret', 'previous_secret_until'],
  ['sources', 'previous_token_value', 'previous_token_until'],
  ['alert_channels', 'previous_secret', 'previous_secret_until'],
] as const;

/** Removes the secrets whose rotation is over. Processes whose clocks are behind may use them for another hour. */
export async function forgetRotatedSecrets(db: Queryable): Promise<void> {
  for (const [table, secret, until] of ROTATED)
    await sql(db).run`
      update ${raw(table)} set ${raw(secret)} = null, ${raw(until)} = null
      where ${raw(until)} < now() - interval '1 hour'`;
}

const WEBHOOKS_TABLE = { table: 'refused_webhooks', key: 'id' };
const COUNTS_TABLE = { table: 'refusal_counts', key: 'source_id, hour, cause, limit_name' };

/**
 * Removes one step of refused webhooks, and of their counts.
 * @param payloadDays how many days payloads are kept; null: for ever. Refusals are not kept longer than REFUSAL_DAYS
 */
export async function forgetRefusals(db: Queryable, payloadDays: number | null): Promise<boolean> {
  const today = Math.floor((await databaseTime(db)) / DAY_MS);
  const first = (today - Math.min(payloadDays ?? REFUSAL_DAYS, REFUSAL_DAYS)) * DAY_MS;
  const oldIds = fragment`id < ${idFloor('ref', first)} order by id`;
  const webhooks = await forgetStep(db, REFUSALS, WEBHOOKS_TABLE, oldIds);
  const counts = await forgetStep(db, REFUSALS, COUNTS_TABLE, fragment`hour < ${new Date(first)} order by hour`);
  return webhooks || counts;
}

const ISSUES_TABLE = { table: 'issues', key: 'id' };
const STREAKS_TABLE = {
  table: 'issue_streaks',
  key: 'organization_id, kind, source_id, route_id, destination_id',
};

export async function forgetIssues(db: Queryable): Promise<boolean> {
  // Triggers resolve the issues of what is deleted; here is what was counted at the same moment. What a route does not
  // have any more can neither fail nor recover; what is counted together names no route, and stays.
  await sql(db).run`
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
  const before = fragment`now() - make_interval(days => ${ISSUE_DAYS})`;
  const resolved = fragment`state = 'resolved' and resolved_at < ${before}`;
  const issues = await forgetStep(db, ISSUES, ISSUES_TABLE, resolved);
  const streaks = await forgetStep(db, ISSUES, STREAKS_TABLE, fragment`last_at < ${before}`);
  return issues || streaks;
}

/**
 * Counts a failure of a part of housekeeping, so that one that fails repeatedly is noticed (docs/operate/retention.md).
 */
export async function countFailure(db: Queryable, part: string, error: unknown): Promise<void> {
  await sql(db).run`
    insert into upkeep as u (kind, part, total, last_at, last_error) values ('failure', ${part}, 1, now(),
      ${errorText(String(error))})
    on conflict (kind, part) do update
    set total = u.total + 1, last_at = excluded.last_at, last_error = excluded.last_error`;
}
