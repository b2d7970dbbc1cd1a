// What a request does at the end of the transaction that changes something, on the same connection: the change is committed with it
// or not at all. Both kinds of transactions run it, those of db/connections/pool.ts and those of the object mapper.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventSubscriber, TransactionEventArgs } from '@mikro-orm/core';

/**
 * Runs a statement that has one parameter; its text is made with what stands for the parameter.
 * @returns how many rows it wrote
 */
export type Execute = (statement: (parameter: string) => string, value: string) => Promise<number>;

/** What runs with each commit. */
export interface CommitHook {
  /** Called before each commit. What it throws rolls the transaction back. */
  run(execute: Execute): Promise<void>;
  /** Called after it. */
  committed(): void;
}

// Links a transaction deep inside a handler to the request.
const hooks = new AsyncLocalStorage<CommitHook>();

/** Runs `work`; each of its transactions runs the hook at its end. */
export function withCommitHook<T>(hook: CommitHook, work: () => Promise<T>): Promise<T> {
  return hooks.run(hook, work);
}

/** That of the running request. */
export function commitHook(): CommitHook | undefined {
  return hooks.getStore();
}

type Transaction = NonNullable<TransactionEventArgs['transaction']>;
const isSavepoint = (transaction: Transaction): boolean => 'savepointName' in transaction;

/** Runs the hook in the transactions of the object mapper. */
export const commitHookSubscriber: EventSubscriber = {
  async beforeTransactionCommit({ em, transaction }) {
    const hook = commitHook();
    if (!hook || !transaction || isSavepoint(transaction)) return;
    await hook.run(async (statement, value) => {
      const { affectedRows } = await em
        .getConnection()
        .execute<{ affectedRows: number }>(statement('?'), [value], 'run', transaction);
      return affectedRows;
    });
  },
  afterTransactionCommit({ transaction }) {
    if (transaction && !isSavepoint(transaction)) commitHook()?.committed();
  },
};
