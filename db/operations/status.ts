// The state of the installation, for its operator (GET /api/status): what waits, which workers there are, circuits,
// housekeeping. Read on request, at most once a second in a process; the largest tables it reads are those of what
// waits.
import { idTime } from '../../core/text/ids.ts';
import { SEEN } from '../hot-path/shards.ts';
import { inSnapshot, type Pool } from '../connections/pool.ts';
import { FIRST_WAREHOUSE } from '../sql/rules.ts';
import { sql } from '../connections/statements.ts';

/** Organizations and workers beyond these are not listed. */
const MOST_ORGANIZATIONS = 100;
const MOST_WORKERS = 1000;

/** Deliveries that have not ended, by what they wait for. */
interface Waiting {
  due: number;
  retrying: number;
  held: number;
  inFiles: number;
  inOrder: number;
  suspended: number;
  /** When the oldest of those that are due, and not suspended, was made. */
  oldestDueAt: Date | null;
}

interface OrganizationStatus extends Omit<Waiting, 'suspended'> {
  id: string;
  slug: string;
  isSuspended: boolean;
  openCircuits: number;
}

interface WorkerStatus {
  name: string;
  version: string | null;
  lane: string | null;
  seenAt: Date;
  /** How many of the 64 shards of the outbox it claims from. */
  shards: number;
  isLeaving: boolean;
}

interface Housekeeping {
  failures: { part: string; total: number; lastAt: Date }[];
}

export interface InstallationStatus {
  waiting: Waiting;
  organizations: OrganizationStatus[];
  workers: WorkerStatus[];
  /** Shards that no live worker owns. */
  shardsWithoutOwner: number;
  circuits: { open: number; halfOpen: number };
  housekeeping: Housekeeping;
  databaseBytes: number;
}

// A row that is to continue a workflow is not older than its last attempt, so its id says nothing about how long it is
// due.
const WAITING = `
with counted as (
  select organization_id, count(*) filter (where destination_id < ${FIRST_WAREHOUSE}) as due,
         count(*) filter (where destination_id >= ${FIRST_WAREHOUSE}) as in_files, 0 as retrying, 0 as held,
         0 as in_order,
         min(delivery_id) filter (where resume is null and destination_id < ${FIRST_WAREHOUSE}) as oldest
  from outbox group by 1
  union all
  select organization_id, 0, 0, count(*), 0, 0, null from retrying_deliveries group by 1
  union all
  select organization_id, 0, 0, 0, count(*), 0, null from held_deliveries group by 1
  union all
  select organization_id, 0, 0, 0, 0, count(*), null from ordered_deliveries group by 1
), circuit as (
  select organization_id, count(*) as open from circuits where state <> 'closed' group by 1
), of_organization as materialized (
  select o.id, o.slug, o.suspended_at is not null as "isSuspended", sum(c.due)::float8 as due,
         sum(c.in_files)::float8 as "inFiles", sum(c.retrying)::float8 as retrying, sum(c.held)::float8 as held,
         sum(c.in_order)::float8 as "inOrder",         min(c.oldest) as oldest
  from counted c join organizations o on o.id = c.organization_id group by o.id
)
select coalesce(sum(due), 0) as due, coalesce(sum("inFiles"), 0) as "inFiles", coalesce(sum(retrying), 0) as retrying,
       coalesce(sum(held), 0) as held, coalesce(sum("inOrder"), 0) as "inOrder",
       coalesce(sum(due) filter (where "isSuspended"), 0) as suspended,
       min(oldest) filter (where not "isSuspended") as oldest,
       (select coalesce(json_agg(w), '[]') from (
          select w.*, coalesce(c.open, 0) as "openCircuits"
          from of_organization w left join circuit c on c.organization_id = w.id
          order by w.due + w.held + w.retrying + w."inFiles" + w."inOrder" desc, w.id limit ${MOST_ORGANIZATIONS}
        ) w) as organizations
from of_organization`;

const WORKERS = `
select split_part(name, ':', 1) as name, version, lane, seen_at as "seenAt", is_leaving as "isLeaving",
       (select count(*)::int from shards where owner = w.name) as shards
from workers w where ${SEEN} and version is not null order by w.name limit ${MOST_WORKERS}`;

const REST = `
select (select count(*)::int from shards
        where not exists (select from workers w where w.name = owner and ${SEEN})) as "shardsWithoutOwner",
       (select json_build_object('open', count(*) filter (where state = 'open'),
                                 'halfOpen', count(*) filter (where state = 'half_open'))
        from circuits where state <> 'closed') as circuits,
       pg_database_size(current_database())::float8 as "databaseBytes"`;

const FAILURES = `
select part, total::float8 as total, last_at as "lastAt" from upkeep
where kind = 'failure' and last_at > now() - interval '1 day' order by last_at desc limit 100`;

/** With the id of the oldest delivery that is due in place of its time. */
type Counted<T> = Omit<T, 'oldestDueAt'> & { oldest: string | null };

const dated = <T extends object>({ oldest, ...counted }: T & { oldest: string | null }) => ({
  ...counted,
  oldestDueAt: oldest === null ? null : new Date(idTime(oldest)),
});

/** @throws a database error */
export function readInstallation(pool: Pool): Promise<InstallationStatus> {
  return inSnapshot(pool, async (db) => {
    // It may be slow, but must not take more than one core.
    await sql(db).run`set local max_parallel_workers_per_gather = 0; set local enable_sort = off`;
    const [counted] = (await db.query<Counted<Waiting> & { organizations: Counted<OrganizationStatus>[] }>(WAITING))
      .rows;
    const [rest] = (await db.query<Pick<InstallationStatus, 'shardsWithoutOwner' | 'circuits' | 'databaseBytes'>>(REST))
      .rows;
    if (!counted || !rest) throw new Error('PostgreSQL returned no row for the status');
    const { organizations, ...waiting } = counted;
    return {
      waiting: dated(waiting),
      organizations: organizations.map(dated),
      workers: (await db.query<WorkerStatus>(WORKERS)).rows,
      housekeeping: { failures: (await db.query<Housekeeping['failures'][number]>(FAILURES)).rows },
      ...rest,
    };
  });
}
