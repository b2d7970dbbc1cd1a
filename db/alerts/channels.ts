// Channels of alerts, besides what the object mapper does.
import { isRefusedValue } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';

/** Whether PostgreSQL, which keeps the quiet hours, knows a time zone. */
export async function knowsTimeZone(db: Queryable, timeZone: string): Promise<boolean> {
  try {
    await db.query('select now() at time zone $1', [timeZone]);
    return true;
  } catch (error) {
    if (isRefusedValue(error)) return false;
    throw error;
  }
}

/** Which of these records of an organization exist. */
export async function existingIds(
  db: Queryable,
  table: 'sources' | 'routes' | 'destinations',
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from ${table} where organization_id = $1 and id = any($2::text[])`,
    [organizationId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}
