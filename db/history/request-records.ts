// The records that the request of a delivery is made of: which version they have now, and since when.
import type { Queryable } from '../connections/pool.ts';

export interface RecordVersion {
  version: number;
  updatedAt: Date;
}

/** Null: the delivery has none, or it was deleted. */
export interface RequestRecords {
  destination: RecordVersion | null;
  route: RecordVersion | null;
  /** That the route has now. */
  transform: RecordVersion | null;
}

interface Row {
  kind: keyof RequestRecords;
  version: number;
  updatedAt: Date;
}

const VERSIONS = `
select 'destination' as kind, version, updated_at as "updatedAt" from destinations where organization_id = $1 and id = $2
union all
select 'route', version, updated_at from routes where organization_id = $1 and id = $3
union all
select 'transform', f.version, f.updated_at
from routes r join transforms f on f.id = r.transform_id and f.organization_id = $1
where r.organization_id = $1 and r.id = $3`;

export async function requestRecords(
  db: Queryable,
  organizationId: string,
  { destinationId, routeId }: { destinationId: string; routeId: string | null },
): Promise<RequestRecords> {
  const { rows } = await db.query<Row>(VERSIONS, [organizationId, destinationId, routeId]);
  const found = new Map(rows.map(({ kind, version, updatedAt }) => [kind, { version, updatedAt }]));
  const of = (kind: keyof RequestRecords) => found.get(kind) ?? null;
  return { destination: of('destination'), route: of('route'), transform: of('transform') };
}
