// What belongs to a transaction besides its statements. A request has a hook, which runs at the end of each of its
// transactions on the same connection, so the change is committed with it or not at all: both in those of pool.ts and
// in those of the object mapper. And what must not happen unless a change is committed, metrics for example, waits for
// the commit; statements that may run inside of a transaction or alone need not know which.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Queryable } from './pool.ts';

/**
 * Runs a statement that has one parameter; its text is made with what stands for the parameter.
 * @returns how many rows it wrote
 */
export type Execute = (statement: (parameter: string) => string, value: string) => Promise<number>;

export interface CommitHook {
  /** Called before each commit. What it throws rolls the transaction back. */
  run(execute: Execute): Promise<void>;
  /** Called after it. */
  committed(): void;
}

const hooks = new AsyncLocalStorage<CommitHook>();

export function withCommitHook<T>(hook: CommitHook, work: () => Promise<T>): Promise<T> {
  return hooks.run(hook, work);
}

export function commitHook(): CommitHook | undefined {
  return hooks.getStore();
}

// Of each connection that is inside of a transaction: what is to be done after its commit.
const waiting = new WeakMap<Queryable, (() => void)[]>();

/**
 * Does something when what was written on `db` is committed: at once outside of a transaction, and never when it is
 * rolled back.
 * @param then must not throw: the change is committed by then
 */
export function afterCommit(db: Queryable, then: () => void): void {
  const others = waiting.get(db);
  if (others) others.push(then);
  else then();
}

/**
 * A transaction begins on a connection.
 * @returns to be called when it has ended; `committed` does what waits for the commit
 */
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
