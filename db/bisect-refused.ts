// Works on many records at once, so that one bad record does not block the others.
import { isRefusedValue } from './connections/database-errors.ts';

/**
 * Runs a statement for records; when PostgreSQL refuses a value, for each half of them, until only the record with that value is
 * left.
 * @param refused handles that record
 * @throws any other error of the statement, and what `refused` throws; what was done before stays done
 */
export async function bisectRefused<T>(
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
    for (const some of [records.slice(0, half), records.slice(half)]) await bisectRefused(some, run, refused);
  }
}
