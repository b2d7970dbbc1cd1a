// Work on many records at once, none of which may keep the others from being done.
import { isRefusedValue } from './database-errors.ts';

/**
 * Runs a statement for records; when it refuses a value, for each half of them, until the record alone is left to which the
 * value belongs.
 * @param refused what becomes of that record
 * @throws any other error of the statement, and what `refused` throws; what was done before stays done
 */
export async function apart<T>(
  records: T[],
  run: (some: T[]) => Promise<void>,
  refused: (record: T, error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await run(records);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    const [only] = records;
    if (records.length === 1 && only !== undefined) return refused(only, error);
    const half = Math.ceil(records.length / 2);
    for (const some of [records.slice(0, half), records.slice(half)]) await apart(some, run, refused);
  }
}
