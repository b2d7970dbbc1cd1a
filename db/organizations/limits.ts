// An operator's overrides of the limits of an organization.
import { LIMIT_NAMES, type LimitName, type LimitOverrides } from '../../core/fairness/limits.ts';
import type { Queryable } from '../connections/pool.ts';
import { forgetPlans } from '../replay/replay-pace.ts';

/** What to change: a number, null for no limit, 'default' for that of the plan. What is not named stays. */
export type LimitChanges = Readonly<Partial<Record<LimitName, number | null | 'default'>>>;

// Merged by PostgreSQL, so that two operators who set different limits both succeed. Ingest compares the version with each webhook
// that it stores, so it goes by the new limits at once.
const SET = `
update organizations set limits = (limits - $2::text[]) || $3::jsonb, config_version = config_version + 1, updated_at = now()
where id = $1
returning limits`;

/**
 * Changes limits of an organization, in every process, without a restart: a lower one holds for the next webhook, a higher one
 * after a second.
 * @returns all its overrides now; null when there is no such organization
 * @throws RangeError for an unknown limit, or a value that is no whole number from 0 up
 */
export async function setLimits(
  db: Queryable,
  organizationId: string,
  changes: LimitChanges,
): Promise<LimitOverrides | null> {
  const names = Object.keys(changes) as LimitName[];
  for (const name of names) requireValid(name, changes[name]);
  const overrides = Object.fromEntries(names.flatMap((name) => overrideOf(name, changes[name])));
  const { rows } = await db.query<{ limits: LimitOverrides }>(SET, [organizationId, names, JSON.stringify(overrides)]);
  if (names.includes('replayedPerSecond')) await forgetPlans(db, organizationId);
  return rows[0]?.limits ?? null;
}

const overrideOf = (name: LimitName, value: LimitChanges[LimitName]): [LimitName, number | null][] =>
  value === undefined || value === 'default' ? [] : [[name, value]];

function requireValid(name: LimitName, value: LimitChanges[LimitName]): void {
  if (!LIMIT_NAMES.includes(name)) {
    throw new RangeError(`There is no limit "${name}"; the limits are ${LIMIT_NAMES.join(', ')}`);
  }
  if (typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0)) {
    throw new RangeError(`${name} must be a whole number from 0 up, or have no limit`);
  }
}
