// Transactions of requests, which may wait for each other.
import { isWriteConflict } from '../../db/connections/database-errors.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type Context, entityManager } from '../request/context.ts';

// A new record locks its organization and then waits for the slug; a change locks the record that has it, and then the organization
// (raise_config_version). PostgreSQL ends one of the two, which is repeated. So are others that it ends for such a reason.
const MOST_CONFLICTS = 3;

/** Runs work in a transaction on the records of the caller's organization. @param work may be called again */
export const transactional = <T>(ctx: Context, deps: ApiDeps, work: (em: EntityManager) => Promise<T>): Promise<T> =>
  despiteConflicts(() => entityManager(ctx, deps).transactional(work));

/** @param work makes a fresh transaction for each try */
export async function despiteConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let conflicts = 1; ; conflicts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isWriteConflict(error) || conflicts > MOST_CONFLICTS) throw error;
    }
  }
}
