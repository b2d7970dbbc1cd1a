// What must not happen unless a change is committed: metrics count it, for example. Statements that may run inside of a transaction
// or alone say it here, and need not know which.
import type { Queryable } from './connections/pool.ts';

// Of each connection that is inside of a transaction: what is to be done after its commit.
const waiting = new WeakMap<Queryable, (() => void)[]>();

/**
 * Does something when what was written on `db` is committed: at once outside of a transaction, and never when it is rolled back.
 * @param then must not throw: the change is committed by then
 */
export function afterCommit(db: Queryable, then: () => void): void {
  const others = waiting.get(db);
  if (others) others.push(then);
  else then();
}

/** A transaction begins on a connection. @returns to be called when it has ended; `committed` does what waits for the commit */
export function transactionOf(db: Queryable): { committed(): void; ended(): void } {
  const toDo: (() => void)[] = [];
  waiting.set(db, toDo);
  return {
    committed() {
      for (const then of toDo) then();
    },
    ended: () => void waiting.delete(db),
  };
}
