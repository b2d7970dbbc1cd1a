// Organizations as an operator sees and changes them (cli/operator/orgs.ts): plans, limits, suspension, deletion. What
// tenants do is limited to their own organization.
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { newId } from '../../core/text/ids.ts';
import type { LimitOverrides, LimitName } from '../../core/fairness/organization-limits.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { isSlug, SLUG_PROBLEM } from '../../core/text/slugs.ts';
import { operatorEntry, recordEntry } from './audit.ts';
import { createKey, FIRST_KEY } from './keys.ts';
import { forgetPlans } from '../replay/event-replays.ts';
import { WAKE_CIRCUITS, WAKE_RELAYS } from '../sql/rules.ts';
import type { Settings } from '../../core/config/config.ts';
import { LOOPBACK_BACK, LOOPBACK_ENDED, LOOPBACK_FOR_ONE } from '../../core/http/addresses.ts';
import { PollLoop } from '../../core/process/poll-loop.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { raw, sql } from '../connections/statements.ts';

export interface OrganizationView {
  id: string;
  slug: string;
  name: string;
  plan: Plan;
  limits: LimitOverrides;
  status: 'active' | 'suspended' | 'deleting';
  suspendedAt: Date | null;
  deletedAt: Date | null;
  eventsRemoved: number;
  createdAt: Date;
}

const VIEW = `
select id, slug, name, plan, limits,
       case when deleted_at is not null then 'deleting' when suspended_at is not null then 'suspended'
         else 'active' end as status, suspended_at, deleted_at, events_removed, created_at
from organizations`;

export async function listOrganizations(db: Queryable): Promise<OrganizationView[]> {
  return sql(db).rows<OrganizationView>`${raw(VIEW)} order by id`;
}

/** @param idOrSlug no slug has the form of an id */
export async function findOrganization(db: Queryable, idOrSlug: string): Promise<OrganizationView | null> {
  return sql(db).find<OrganizationView>`${raw(VIEW)} where id = ${idOrSlug} or slug = ${idOrSlug}`;
}

/** Sets the plan; its limits are in force within seconds. */
export async function setPlan(db: Queryable, organizationId: string, plan: Plan): Promise<void> {
  await sql(db).run`
    update organizations set plan = ${plan}, config_version = config_version + 1, updated_at = now()
    where id = ${organizationId}`;
  await forgetPlans(db, organizationId);
}

/**
 * Requests the deletion of an organization: its keys end at once, its sources answer 404, and nothing more is
 * delivered. The rest is removed in the background.
 */
export function requestDeletion(pool: Pool, organizationId: string): Promise<void> {
  return inTransaction(pool, async (db) => {
    await sql(db).run`
      update organizations
      set deleted_at = now(), suspended_at = coalesce(suspended_at, now()), config_version = config_version + 1,
          updated_at = now()
      where id = ${organizationId} and deleted_at is null`;
    await sql(db).run`delete from api_keys where organization_id = ${organizationId}`;
  });
}

/**
 * Makes an organization with a first key of both scopes.
 * @throws RangeError for an invalid slug or an empty name; a database error when the slug is taken (23505)
 */
export async function createOrganization(
  pool: Pool,
  { name, slug, plan }: { name: string; slug: string; plan: string },
): Promise<{ organization: { id: string; name: string; slug: string; plan: string }; token: string }> {
  if (!isSlug(slug)) throw new RangeError(`Invalid slug "${slug}": it ${SLUG_PROBLEM}`);
  if (name.trim() === '') throw new RangeError('The organization name must not be empty');
  const id = newId('org');
  return inTransaction(pool, async (db) => {
    await sql(db).run`insert into organizations (id, slug, name, plan) values (${id}, ${slug}, ${name}, ${plan})`;
    const key = await createKey(db, id, FIRST_KEY);
    if (!key) throw new Error(`organization ${slug} disappeared while it was being created`);
    const entry = { action: 'createOrganization', resource: 'organization', members: ['name', 'slug', 'plan'] };
    const own = { organizationId: id, command: 'hookyard orgs create', recordIds: [id, key.id] };
    await recordEntry(db, operatorEntry({ ...own, ...entry }));
    return { organization: { id, name, slug, plan }, token: key.token };
  });
}

/** What to change: a number, null for no limit, 'default' for that of the plan. What is not named stays. */
export type LimitChanges = Readonly<Partial<Record<LimitName, number | null | 'default'>>>;

/**
 * Changes limits of an organization, in every process, without a restart: a lower one holds for the next webhook, a
 * higher one after a second.
 * @returns all its overrides now; null when there is no such organization
 */
export async function setLimits(
  db: Queryable,
  organizationId: string,
  changes: LimitChanges,
): Promise<LimitOverrides | null> {
  const names = Object.keys(changes) as LimitName[];
  const overrides = Object.fromEntries(names.flatMap((name) => overrideOf(name, changes[name])));
  // Merged by PostgreSQL, so that two operators who set different limits both succeed. Ingest compares the version
  // with each webhook that it stores, so it goes by the new limits at once.
  const rows = await sql(db).rows<{ limits: LimitOverrides }>`
    update organizations set limits = (limits - ${names}::text[]) || ${JSON.stringify(overrides)}::jsonb,
      config_version = config_version + 1,
      updated_at = now()
    where id = ${organizationId}
    returning limits`;
  if (names.includes('replayedPerSecond')) await forgetPlans(db, organizationId);
  return rows[0]?.limits ?? null;
}

const overrideOf = (name: LimitName, value: LimitChanges[LimitName]): [LimitName, number | null][] =>
  value === undefined || value === 'default' ? [] : [[name, value]];

export interface Suspension {
  suspended: boolean;
  resumedAt: Date | null;
}

/** Read from the database each time, so that a suspension that has ended is not seen any more. */
export async function loadSuspension(db: Queryable, organizationId: string): Promise<Suspension> {
  const found = await sql(db).first<Suspension>`
    select suspended_at is not null as suspended, resumed_at from organizations
    where id = ${organizationId}`;
  return found ?? { suspended: false, resumedAt: null };
}

/**
 * A higher version of the configuration makes every API process read the organization again.
 * @returns false: it was suspended
 */
export async function suspendOrganization(db: Queryable, organizationId: string): Promise<boolean> {
  return sql(db).any`
    update organizations set suspended_at = now(), config_version = config_version + 1, updated_at = now()
    where id = ${organizationId} and suspended_at is null`;
}

/** Ends a suspension, and wakes what has waited for that. @returns false: it was not suspended, or is being deleted */
export function resumeOrganization(pool: Pool, organizationId: string): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const rowCount = await sql(db).run`
      update organizations
      set suspended_at = null, resumed_at = now(), config_version = config_version + 1, updated_at = now()
      where id = ${organizationId} and suspended_at is not null and deleted_at is null`;
    if (rowCount === 0) return false;
    // A closed one without a time to be woken holds nothing (activities/circuit.ts).
    await sql(db).run`
      with due as (
        select route_id from circuits
        where organization_id = ${organizationId} and (state <> 'closed' or wake_at is not null)
        order by route_id for update
      )
      update circuits c set version = c.version + 1, wake_at = now() from due d where c.route_id = d.route_id`;
    // A flush whose version is not the one its workflow has seen is signalled (db/warehouse/flushes.ts).
    await sql(db).run`
      update warehouse_flushes set seen_version = null, due_at = now() where organization_id = ${organizationId}`;
    await sql(db).run`select ${raw(WAKE_RELAYS)}, ${raw(WAKE_CIRCUITS)}`;
    return true;
  });
}

export interface OrganizationWatch {
  /** Known since the start, and at most ten seconds old; three while somebody asks. */
  areSeveral(): boolean;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 10_000;
const LOOK_WHEN_ASKED_MS = 3000;

export function tellLoopback(
  { HOOKYARD_DELIVERY_ALLOW: allow }: Pick<Settings, 'HOOKYARD_DELIVERY_ALLOW'>,
  log: Log,
  before: boolean,
  several: boolean,
): void {
  if (several === before || !allow.includes(LOOPBACK_FOR_ONE)) return;
  if (several) log.warn(LOOPBACK_ENDED);
  else log.info(LOOPBACK_BACK);
}

/**
 * Looks now, and every three seconds while somebody asks, else every ten, since an organization may be made by any
 * process. Workers find it when they look at what is due (db/operations/due.ts).
 * Failure policy: a failed first look is thrown; after a later one, what was found before stays in force.
 */
export async function watchOrganizations(
  db: Queryable,
  settings: Pick<Settings, 'HOOKYARD_DELIVERY_ALLOW'>,
  log: Log,
): Promise<OrganizationWatch> {
  let several = false;
  const look = async () => {
    const before = several;
    several = await hasSeveral(db);
    tellLoopback(settings, log, before, several);
  };
  await look();
  const rest = { ms: LOOK_EVERY_MS, wokenMs: LOOK_WHEN_ASKED_MS };
  const loop = new PollLoop({
    round: async () => {
      await look();
      return rest;
    },
    onError: (error) => {
      throttled(log).warn({ cause: causeOf(error) }, 'failed to count the organizations; trying again');
      return rest;
    },
  });
  return {
    areSeveral() {
      loop.wake();
      return several;
    },
    stop: () => loop.stop(),
  };
}

async function hasSeveral(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: number }>({
    name: 'count-organizations',
    text: 'select count(*)::int as found from (select from organizations limit 2) as counted',
  });
  return (rows[0]?.found ?? 0) > 1;
}
