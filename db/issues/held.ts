// The failed deliveries that an issue holds, to be delivered again.
// Rules: ISS-11.
import type { Issue, IssueKind } from '../../core/issues.ts';
import { findPage } from '../history/page.ts';
import { bounds } from '../parameters.ts';
import { inSnapshot, type Pool, type Queryable } from '../pool.ts';

const DAY_MS = 86_400_000;
// Deliveries that failed since an issue opened may have been made long before; one that was retried for longer is left out.
const LONGEST_MS = 30 * DAY_MS;
const PAGE = 500;
// So many failed deliveries are looked through.
const MAX_PAGES = 40;

interface Holding {
  status: 'failed' | 'schema_failed';
  /** A condition on `deliveries d`. */
  condition: string;
}

// A transform fails before an attempt is made, a destination by its answer or without one. An open circuit holds back what waits,
// which its closing releases; what failed meanwhile is retried.
const HOLDING: Partial<Record<IssueKind, Holding>> = {
  delivery_failing: { status: 'failed', condition: 'd.attempt_count > 0' },
  circuit_open: { status: 'failed', condition: 'true' },
  transform_failing: { status: 'failed', condition: 'd.attempt_count = 0' },
  schema_refusing: { status: 'schema_failed', condition: 'true' },
  warehouse_not_writable: { status: 'failed', condition: 'true' },
};

/** Whether issues of a kind hold deliveries. */
export const holdsDeliveries = ({ kind, routeId, destinationId }: Issue): boolean =>
  HOLDING[kind] !== undefined && (routeId !== null || destinationId !== null);

/**
 * Finds deliveries that failed since the issue opened, and have not been replayed; the newest first.
 * @param most how many
 */
export function heldDeliveries(pool: Pool, issue: Issue, most: number): Promise<string[]> {
  const holding = HOLDING[issue.kind];
  if (holding === undefined || !holdsDeliveries(issue)) return Promise.resolve([]);
  const { organizationId, routeId, destinationId, firstSeenAt } = issue;
  const selection = {
    kind: 'delivery' as const,
    organizationId,
    from: new Date(firstSeenAt.getTime() - LONGEST_MS),
    where: { status: holding.status, route_id: routeId ?? undefined, destination_id: destinationId ?? undefined },
  };
  return inSnapshot(pool, async (db) => {
    const held: string[] = [];
    for (let page = 0; page < MAX_PAGES && held.length < most; page += 1) {
      const { ids } = await findPage(db, selection, { limit: PAGE, offset: page * PAGE });
      held.push(...(await stillHeld(db, issue, holding, ids)));
      if (ids.length < PAGE) break;
    }
    return held.slice(0, most);
  });
}

async function stillHeld(db: Queryable, issue: Issue, { condition }: Holding, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { low, high } = bounds(ids);
  // A delivery that was replayed does not count any more.
  const { rows } = await db.query<{ id: string }>(
    `select d.id from deliveries d where d.organization_id = $1 and d.id = any($2::text[]) and d.id between $4 and $5
       and d.counted and d.finished_at >= $6 and ($3::int is null or d.status_code = $3) and ${condition} order by d.id desc`,
    [issue.organizationId, ids, statusCodeOf(issue), low, high, issue.firstSeenAt],
  );
  return rows.map(({ id }) => id);
}

function statusCodeOf({ cause }: Issue): number | null {
  const code = /^HTTP_(\d{1,4})$/.exec(cause)?.[1];
  return code === undefined ? null : Number(code);
}
