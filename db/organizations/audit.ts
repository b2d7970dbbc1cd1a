// The audit log: who did what. A record is written with the change that it is about (connections/pool.ts), and
// never changed.
import { newId } from '../../core/text/ids.ts';
import { jsonParameter, allOf, fragment, type Fragment, raw, sql } from '../connections/statements.ts';
import { type Execute, type Queryable, type Pool, withCommitHook } from '../connections/pool.ts';
import { countMatching, type Found, type Part, readPart } from '../sql/list-parts.ts';
import { Stride } from '../sql/ranges.ts';
import { hostname, userInfo } from 'node:os';

export const OUTCOMES = ['done', 'refused', 'failed'] as const;

/** One entry: ids and names of members, never a value. */
export interface AuditEntry {
  organizationId: string;
  /** An operator works on the database itself, without a key. A provider sends a secret in its handshake. */
  actor: 'key' | 'operator' | 'provider';
  keyId?: string;
  keyName?: string;
  address?: string;
  userAgent?: string;
  requestId?: string;
  /** The operation of the API, or the operator's command: `updateSource`. */
  action: string;
  resource: string;
  recordIds: string[];
  recordCount?: number;
  members: string[];
  outcome: (typeof OUTCOMES)[number];
  status?: number;
  code?: string | undefined;
}

export const MAX_RECORD_IDS = 100;

const insert = (parameter: string, condition: string) => `
insert into audit_records (id, organization_id, actor, key_id, key_name, address, user_agent, request_id, action,
                           resource, record_ids, record_count, members, outcome, status, code)
select id, "organizationId", actor, "keyId", "keyName", address, "userAgent", "requestId", action, resource,
       "recordIds", "recordCount", members, outcome, status, code
from jsonb_to_record(${parameter}::jsonb) as r(id text, "organizationId" text, actor text, "keyId" text, "keyName" text,
  address text, "userAgent" text, "requestId" text, action text, resource text, "recordIds" text[], "recordCount" int,
  members text[], outcome text, status int, code text)
where ${condition}`;

// A transaction has an id once it has written something: one that found nothing to change has done nothing.
const HAS_WRITTEN = 'pg_current_xact_id_if_assigned() is not null';

/** Writes the record of what a transaction did, in the transaction. @returns false when it has written nothing */
export async function recordChange(execute: Execute, entry: AuditEntry): Promise<boolean> {
  return (await execute((parameter) => insert(parameter, HAS_WRITTEN), rowOf(entry))) > 0;
}

/** Writes the record of a entry that has no transaction. */
export async function recordEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.query(insert('$1', 'true'), [rowOf(entry)]);
}

function rowOf(entry: AuditEntry): string {
  const { recordIds } = entry;
  const row = {
    ...entry,
    id: newId('aud'),
    recordIds: recordIds.slice(0, MAX_RECORD_IDS),
    recordCount: entry.recordCount ?? recordIds.length,
  };
  return jsonParameter(row);
}

/** What may be left out is stored as null. */
type Stored<T> = {
  [Key in keyof T]-?: undefined extends T[Key] ? Exclude<T[Key], undefined> | null : T[Key];
};

export type AuditRecord = Stored<Omit<AuditEntry, 'organizationId' | 'recordCount'>> & {
  id: string;
  at: Date;
  recordCount: number;
};

export interface AuditFilter {
  from?: Date | undefined;
  to?: Date | undefined;
  keyId?: string | undefined;
  action?: string | undefined;
  resource?: string | undefined;
  recordId?: string | undefined;
  outcome?: string | undefined;
}

// The order is that of the database's clock, which ids do not have.
const CURSOR = /^(\d{1,15})-(aud_\w{26})$/;
export const isAuditCursor = (text: string): boolean => CURSOR.test(text);

export async function listAuditRecords(
  db: Queryable,
  organizationId: string,
  { from, to, keyId, action, resource, recordId, outcome }: AuditFilter,
  part: Part,
): Promise<Omit<Found, 'ids'> & { records: AuditRecord[] }> {
  const about = recordId === undefined ? [] : [await aboutRecord(db, recordId)];
  const matching = fragment`
    from audit_records
    where organization_id = ${organizationId} and (${from}::timestamptz is null or at >= ${from})
      and (${to}::timestamptz is null or at <= ${to}) and (${keyId}::text is null or key_id = ${keyId})
      and (${action}::text is null or action = ${action}) and (${resource}::text is null or resource = ${resource})
      and (${outcome}::text is null or outcome = ${outcome}) and ${allOf([raw('true'), ...about])}`;
  const { items, ...found } = await readPart(part, {
    total: () => countMatching(db, matching),
    items(after, limit, offset) {
      const [, at, id] = CURSOR.exec(after ?? '') ?? [];
      const time = at === undefined ? null : new Date(Number(at));
      return sql(db).rows<AuditRecord>`
        select id, at, actor, key_id, key_name, address, user_agent, request_id, action, resource, record_ids,
               record_count, members, outcome, status, code
        ${matching} and (${time}::timestamptz is null or (at, id) < (${time}, ${id})) order by at desc, id desc
        limit ${limit} offset ${offset}`;
    },
    cursorOf: ({ at, id }) => `${at.getTime()}-${id}`,
  });
  return { records: items, ...found };
}

/**
 * Which records are about something. Behind a policy its index is of no use to the condition itself
 * (audit_records_about). The services are behind a policy too, one that permits everything and hinders no index; the
 * function is for tenants only.
 */
async function aboutRecord(db: Queryable, recordId: string): Promise<Fragment> {
  const isBehind = await sql(db).value<boolean>`
    select row_security_active('public.audit_records')
      and has_function_privilege('public.audit_records_about(text)', 'execute')`;
  return isBehind
    ? fragment`id = any(array(select audit_records_about(${recordId})))`
    : fragment`record_ids @> array[${recordId}]`;
}

/** Deletes some records of an organization that is being deleted, but for those of operators. @returns how many */
export async function forgetAuditOf(db: Queryable, organizationId: string, most: number): Promise<number> {
  return sql(db).value<number>`select forget_audit_of(${organizationId}, ${most})`;
}

const FORGETTING = new Stride(5000);

/** Deletes one step of old records. @param days 0 keeps them for ever @returns true when there may be more */
export function forgetAuditRecords(db: Queryable, days: number): Promise<boolean> {
  if (days === 0) return Promise.resolve(false);
  return FORGETTING.step(async (size) => {
    return (await sql(db).value<number>`select forget_audit_records(${days}, ${size})`) === size;
  });
}

export type OperatorEntry = Pick<AuditEntry, 'organizationId' | 'action' | 'resource' | 'recordIds' | 'members'> & {
  command: string;
};

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
