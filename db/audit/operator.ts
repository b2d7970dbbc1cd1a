// The operator in the audit log: a person who runs a command on the database itself.
import { hostname, userInfo } from 'node:os';
import { withLastStep } from '../last-step.ts';
import type { Pool } from '../connections/pool.ts';
import { type Deed, recordChange, recordDeed } from './records.ts';

/** What an operator does: with `command` as it was called, `hookyard orgs suspend`. */
export type OperatorDeed = Pick<Deed, 'organizationId' | 'action' | 'resource' | 'recordIds' | 'members'> & {
  command: string;
};

/** The record of an operator's command. */
export function operatorDeed({ command, ...deed }: OperatorDeed): Deed {
  return { ...deed, actor: 'operator', userAgent: `${command} (${userName()} on ${hostname()})`, outcome: 'done' };
}

/** Runs a command and records it: in its transaction, or afterwards when it has none. */
export async function recordOperator<T>(pool: Pool, deed: OperatorDeed, work: () => Promise<T>): Promise<T> {
  const record = operatorDeed(deed);
  let isWritten = false;
  let isRecorded = false;
  const step = {
    run: async (execute: Parameters<typeof recordChange>[0]) => {
      if (!isRecorded) isWritten = await recordChange(execute, record);
    },
    committed: () => {
      isRecorded = isWritten;
    },
  };
  const result = await withLastStep(step, work);
  if (!isRecorded) await recordDeed(pool, record);
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
