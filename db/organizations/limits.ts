// What an operator sets for an organization apart from its plan's defaults (core/limits.ts).
import type { LimitName } from '../../core/limits.ts';
import type { Queryable } from '../pool.ts';

/**
 * Sets one limit of an organization, in force within seconds.
 * @param value null: no limit; undefined: the plan's default again
 */
export async function setLimit(
  db: Queryable,
  organizationId: string,
  name: LimitName,
  value: number | null | undefined,
): Promise<void> {
  await db.query(
    `update organizations
     set limits = (limits - $2) || $3::jsonb, config_version = config_version + 1, updated_at = now() where id = $1`,
    [organizationId, name, JSON.stringify(value === undefined ? {} : { [name]: value })],
  );
}
