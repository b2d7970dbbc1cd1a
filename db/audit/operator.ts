// The operator in the audit log: whoever runs a command on the database itself.
import { hostname, userInfo } from 'node:os';
import type { Queryable } from '../pool.ts';
import { type Deed, recordDeed } from './records.ts';

/** What the record of an operator's command begins with. @param command as it was called: `hookyard orgs create` */
function operatorOf(
  organizationId: string,
  command: string,
): Pick<Deed, 'organizationId' | 'actor' | 'userAgent' | 'outcome'> {
  return {
    organizationId,
    actor: 'operator',
    userAgent: `${command} (${userName()} on ${hostname()})`,
    outcome: 'done',
  };
}

/** Writes what an operator's command did. @param command as it was called */
export function recordOperator(
  db: Queryable,
  organizationId: string,
  command: string,
  deed: Pick<Deed, 'action' | 'resource' | 'recordIds' | 'members'>,
): Promise<void> {
  return recordDeed(db, { ...operatorOf(organizationId, command), ...deed });
}

// A container may run as a user without a name.
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
