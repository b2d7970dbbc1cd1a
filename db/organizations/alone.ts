// Whether there is only one organization: then nothing is kept free for others (core/fair-share.ts).
import type { Queryable } from '../pool.ts';

export async function isAlone(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ alone: boolean }>(
    'select not exists (select from organizations offset 1) as alone',
  );
  return rows[0]?.alone ?? false;
}
