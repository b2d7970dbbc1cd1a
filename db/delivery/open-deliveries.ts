// Finds open deliveries among millions that have ended. There is no index for it, because it would make recording every attempt more
// expensive. Each open delivery that is not in a file of a warehouse is in one of three small tables: `outbox`, `held_deliveries`, or,
// if only its workflow continues it, `retrying_deliveries`.
import type { Queryable } from '../connections/pool.ts';
import { type Pages, Stride, throughPages } from '../ranges.ts';
import { OPEN, UNDER_WAY } from '../sql-rules.ts';

// Pages of a table that one statement goes through: some ten thousand rows.
const LOOKING = new Stride(500);

const OPEN_IN = (table: string) => `
select d.id, d.organization_id as "organizationId" from (
  select delivery_id from ${table} w
  where ctid >= $1::tid and ctid < $2::tid and ($3::text[] is null or destination_id = any($3))
) w
cross join lateral (
  select * from deliveries d where d.id = w.delivery_id and d.status in ${OPEN} and d.batch_id is null
    and ($4::text is null or d.event_id < $4) offset 0
) d
where exists (select from sources s where s.id = d.source_id)
limit $5`;

export interface OpenDelivery {
  id: string;
  organizationId: string;
}

/** Selects open deliveries; those in a file that is being written, and those of a deleted source, are excluded. */
interface OpenFilter {
  destinationIds?: string[];
  /** Only of events with smaller ids. */
  eventsBefore?: string;
}

/**
 * Finds open deliveries, in no order, and hands them over in groups, none of them empty. One that moves between the tables meanwhile
 * may be missed, or come twice.
 * @param most of one group
 * @param end ends them; returns whether to go on
 * @returns whether all were gone through
 */
export async function endOpen(
  db: Queryable,
  { destinationIds, eventsBefore }: OpenFilter,
  most: number,
  end: (open: OpenDelivery[]) => Promise<boolean>,
): Promise<boolean> {
  for (const table of ['outbox', 'held_deliveries', 'retrying_deliveries']) {
    let mayGoOn = true;
    const look = async ({ from, to }: Pages) => {
      const values = [from, to, destinationIds ?? null, eventsBefore ?? null, most];
      return (await db.query<OpenDelivery>(OPEN_IN(table), values)).rows;
    };
    const take = async (pages: Pages) => {
      // What was not ended is found again.
      for (let known = new Set<string>(); mayGoOn; ) {
        const open = await look(pages);
        const rows = open.filter(({ id }) => !known.has(id));
        if (rows.length === 0) return;
        mayGoOn = await end(rows);
        if (open.length < most) return;
        known = new Set(open.map(({ id }) => id));
      }
    };
    await throughPages(db, table, LOOKING, take, () => mayGoOn);
    if (!mayGoOn) return false;
  }
  return true;
}

const OPEN_OF = `
select delivery_id as id from (
  select delivery_id from outbox where organization_id = $1
  union select delivery_id from held_deliveries where organization_id = $1
  union select delivery_id from retrying_deliveries where organization_id = $1
  union select d.id from warehouse_batches b join deliveries d on d.destination_id = b.destination_id
          and d.id between b.first_delivery_id and b.last_delivery_id and d.batch_id = b.id and d.status = 'pending'
        where b.organization_id = $1 and b.status in ${UNDER_WAY}
) open limit $2`;

/** What may be open of an organization, those in files of a warehouse included; in no order. */
export async function openOf(db: Queryable, organizationId: string, most: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(OPEN_OF, [organizationId, most]);
  return rows.map(({ id }) => id);
}

// A row of the outbox with `resume` belongs to a workflow: if only that continues the delivery, it is counted there (backlog.ts).
const COUNT = `
select ((select count(*) from outbox o where organization_id = $1
           and (resume is null or not exists (select from retrying_deliveries r where r.delivery_id = o.delivery_id)))
      + (select count(*) from held_deliveries where organization_id = $1)
      + (select count(*) from retrying_deliveries where organization_id = $1))::float8 as open`;

/** Counts the open deliveries of an organization that are in no file of a warehouse. */
export async function countOpen(db: Queryable, organizationId: string): Promise<number> {
  const { rows } = await db.query<{ open: number }>(COUNT, [organizationId]);
  return rows[0]?.open ?? 0;
}
