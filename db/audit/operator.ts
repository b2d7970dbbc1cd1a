// The operator in the audit log: a person who runs a command on the database itself.
import { hostname, userInfo } from 'node:os';
import { withCommitHook } from '../commit-hook.ts';
import type { Pool } from '../connections/pool.ts';
import { type AuditEntry, recordChange, recordEntry } from './records.ts';

/** What an operator does: with `command` as it was called, `hookyard orgs suspend`. */
export type OperatorEntry = Pick<AuditEntry, 'organizationId' | 'action' | 'resource' | 'recordIds' | 'members'> & {
  command: string;
};

/** The record of an operator's command. */
export function operatorEntry({ command, ...entry }: OperatorEntry): AuditEntry {
  return { ...entry, actor: 'operator', userAgent: `${command} (${userName()} on ${hostname()})`, outcome: 'done' };
}

/** Runs a command and records it: in its transaction, or afterwards when it has none. */
export async function recordOperator<T>(pool: Pool, entry: OperatorEntry, work: () => Promise<T>): Promise<T> {
  const record = operatorEntry(entry);
  let isWritten = false;
  let isRecorded = false;
  const hook = {
    run: async (execute: Parameters<typeof recordChange>[0]) => {
      if (!isRecorded) isWritten = await recordChange(execute, record);
    },
    committed: () => {
      isRecorded = isWritten;
    },
  };
  const result = await withCommitHook(hook, work);
  if (!isRecorded) await recordEntry(pool, record);
  return result;
}

// A container may run as a user without a name.
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
