// Changes of records that wait for each other.
import { isWriteConflict } from '../../db/connections/database-errors.ts';

// A new record locks its organization and then waits for the slug; a change locks the record that has it, and then the organization
// (migration 0001). PostgreSQL ends one of the two, which is repeated.
const MOST_CONFLICTS = 3;

/** @param work makes a fresh unit of work for each try */
export async function despiteConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWriteConflict(error) || conflicts > MOST_CONFLICTS) throw error;
    }
  }
}
