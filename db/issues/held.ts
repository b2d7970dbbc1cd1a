import { type Issue, type IssueKind, OTHER_CAUSE } from '../../core/messages/issues.ts';
import { findPart } from '../history/search.ts';
import type { Selection } from '../history/selection.ts';
import { among, raw, sql } from '../connections/statements.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';

const DAY_MS = 86_400_000;
// Deliveries that failed since an issue opened may have been made long before; one that was retried for longer is left
// out.
const LONGEST_MS = 30 * DAY_MS;
const PAGE = 500;
// One look reads at most MAX_PAGES pages of failed deliveries, and for at most LOOK_MS; the next look continues below
// them.
const MAX_PAGES = 40;
const LOOK_MS = 2000;

interface Holding {
  status: 'failed' | 'schema_failed';
  condition: string;
}

// A transform fails before an attempt is made, a destination by its answer or without one. An open circuit holds back
// what waits, which its closing releases; what failed meanwhile is retried.
const HOLDING: Partial<Record<IssueKind, Holding>> = {
  delivery_failing: { status: 'failed', condition: 'd.attempt_count > 0' },
  circuit_open: { status: 'failed', condition: 'true' },
  transform_failing: { status: 'failed', condition: 'd.attempt_count = 0' },
  schema_refusing: { status: 'schema_failed', condition: 'true' },
  order_blocked: { status: 'failed', condition: 'd.order_number is not null' },
  warehouse_not_writable: { status: 'failed', condition: 'true' },
};

export const holdsDeliveries = ({ kind, routeId, destinationId }: Issue): boolean =>
  HOLDING[kind] !== undefined && (routeId !== null || destinationId !== null);

export interface Held {
  ids: string[];
  /** Where the next look continues: below this delivery. Null: there is nothing more. */
  next: string | null;
}

/**
 * Finds deliveries that failed since the issue opened, and have not been replayed; the newest first. One look does
 * bounded work, whatever their number; all of them are found by further looks.
 * @param most how many
 * @param before where the look before ended; null: from the newest on
 */
export async function heldDeliveries(pool: Pool, issue: Issue, most: number, before: string | null): Promise<Held> {
  const holding = HOLDING[issue.kind];
  if (holding === undefined || !holdsDeliveries(issue)) return { ids: [], next: null };
  const selection = failedDeliveries(issue, holding);
  const giveUpAt = performance.now() + LOOK_MS;
  return inSnapshot(pool, async (db) => {
    const held: string[] = [];
    let below = before;
    for (let pages = 0; pages < MAX_PAGES && performance.now() < giveUpAt; pages += 1) {
      const part = { limit: PAGE, after: below, withTotal: false };
      const { ids, next } = await findPart(db, selection, part, giveUpAt - performance.now());
      held.push(...(await stillHeld(db, issue, holding, ids)));
      if (held.length > most) return { ids: held.slice(0, most), next: held[most - 1] ?? null };
      if (next === null) return { ids: held, next: null };
      below = next;
    }
    return { ids: held, next: below };
  });
}

function failedDeliveries(
  { organizationId, routeId, destinationId, firstSeenAt }: Issue,
  { status }: Holding,
): Selection {
  return {
    kind: 'delivery',
    organizationId,
    from: new Date(firstSeenAt.getTime() - LONGEST_MS),
    where: { status, route_id: routeId ?? undefined, destination_id: destinationId ?? undefined },
  };
}

async function stillHeld(db: Queryable, issue: Issue, { condition }: Holding, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const statusCode = statusCodeOf(issue);
  // A delivery that was replayed does not count any more.
  return sql(db).column`
    select d.id from deliveries d where d.organization_id = ${issue.organizationId} and ${among('d.id', ids)}
      and d.counted and d.finished_at >= ${issue.firstSeenAt}
      and (${statusCode}::int is null or d.status_code = ${statusCode})
      and (not ${hadNoAnswer(issue)} or d.status_code is null) and ${raw(condition)}
    order by d.id desc`;
}

function statusCodeOf({ cause }: Issue): number | null {
  const code = /^HTTP_(\d{1,4})$/.exec(cause)?.[1];
  return code === undefined ? null : Number(code);
}

/** Whether its deliveries failed without an answer: which of the causes it was is not kept with a delivery. */
const hadNoAnswer = (issue: Issue): boolean =>
  issue.kind === 'delivery_failing' && issue.cause !== OTHER_CAUSE && statusCodeOf(issue) === null;
