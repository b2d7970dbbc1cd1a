// Records in the audit log what a request does: every request that may change something, and those that read payloads
// or secrets. The record of a change is the last statement of its transaction, so there is no change without its
// record. What has an effect elsewhere (a test webhook, a retry) is recorded before it is done; a read or a refusal
// before the answer is sent. Of equal refusals, reads and repeats in a minute only the first is, because a tenant can
// cause them without end.
import { createHash } from 'node:crypto';
import { recordedAgent } from '../../core/http/headers.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { memberNames } from '../../core/text/unknown-members.ts';
import { type AuditEntry, recordChange, recordEntry } from '../../db/organizations/audit.ts';
import { type Execute, type Pool, withCommitHook } from '../../db/connections/pool.ts';
import { type ApiState, callerOf, type Context, logOf, type Next } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';
import { type Around, type Described, TAGS } from '../request/operation.ts';

type End = Pick<AuditEntry, 'outcome' | 'status' | 'code'>;

export function beginAudit(ctx: { state: ApiState }): void {
  ctx.state.audit ??= { recordIds: [], isRecorded: false };
}

export function noteSecretRead(ctx: Context, id: string): void {
  if (ctx.method !== 'GET') return;
  beginAudit(ctx);
  ctx.state.audit?.recordIds.push(id);
}

/**
 * Names the records that the request is about, besides that of its path; called again, for another try, it names them
 * again.
 * @param count how many they are, if `ids` are only the first
 */
export function noteRecords(ctx: { state: ApiState }, ids: readonly (string | null)[], count?: number): void {
  if (!ctx.state.audit) return;
  ctx.state.audit.recordIds = ids.filter(isSomeId);
  if (count !== undefined) ctx.state.audit.recordCount = count;
}

// What was sent as an id may be any text.
const isSomeId = (text: string | null | undefined): text is string =>
  typeof text === 'string' && /^[a-z]{3}(_wh)?_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text);

/**
 * Records a request that has an effect outside of the database, where no transaction binds the two: called right
 * before. If it then comes to nothing, another record says so.
 * @throws when it cannot be recorded: the effect must not happen then
 */
export async function recordAhead(ctx: { state: ApiState }): Promise<void> {
  await ctx.state.audit?.writeAhead?.();
}

/** The request changes nothing after all: it is a dry run. */
export function noteDryRun(ctx: { state: ApiState }): void {
  delete ctx.state.audit;
}

/**
 * Middleware of an operation; the outermost one, so that refusals are recorded too.
 * @param firsts of all operations together; `firsts.reads` of payloads and secrets, and of answers that were given
 * again
 */
export function auditTrail(
  pool: Pool,
  operation: Described,
  firsts: { refused: FirstOfMinute; reads: FirstOfMinute },
): Around {
  const mayChange = operation.method !== 'get' && !operation.changesNothing;
  return async (ctx: Context, next: Next) => {
    if (mayChange) beginAudit(ctx);
    // What does not exist here may be another organization's.
    const record = (end: End) => ({
      ...describe(ctx, operation),
      ...(end.status === 404 && { recordIds: [] }),
      ...end,
    });
    const writeNow = async (end: End) => {
      if (!ctx.state.audit || ctx.state.audit.isRecorded) return;
      const entry = record(end);
      if (end.outcome !== 'done' && !ctx.state.audit.isAhead) await recordFirst(pool, entry, firsts.refused);
      else if (mayChange && end.code !== REPEATED) await recordEntry(pool, entry);
      else await recordFirstRead(pool, entry, firsts.reads, asked(ctx));
    };
    if (ctx.state.audit) {
      ctx.state.audit.writeAhead = async () => {
        await writeNow({ outcome: 'done' });
        if (ctx.state.audit) Object.assign(ctx.state.audit, { isRecorded: true, isAhead: true });
      };
    }
    let isWritten = false;
    const hook = {
      async run(execute: Execute) {
        if (!ctx.state.audit || ctx.state.audit.isRecorded) return;
        isWritten = await recordChange(execute, record({ outcome: 'done' }));
      },
      committed() {
        if (isWritten && ctx.state.audit) ctx.state.audit.isRecorded = true;
      },
    };
    try {
      await (mayChange ? withCommitHook(hook, next) : next());
    } catch (error) {
      if (ctx.state.audit?.isAhead) ctx.state.audit.isRecorded = false;
      // Failure policy: the request is answered with its own error, whether or not that could be recorded.
      await writeNow(endOf(error)).catch((reason: unknown) => {
        logOf(ctx).warn(
          { cause: causeOf(reason), action: operation.operationId },
          'failed to record an unsuccessful request in the audit log',
        );
      });
      throw error;
    }
    // Failure policy: a read that cannot be recorded is not answered.
    await writeNow(ctx.response.get('Idempotent-Replayed') === '' ? { outcome: 'done' } : repeated(ctx));
  };
}

/** An answer that was kept (idempotency.ts) was read again; it may hold a secret, such as a new key. */
function repeated({ status }: Context): End {
  return { outcome: status < 400 ? 'done' : 'refused', status, code: REPEATED };
}

const REPEATED = 'REPEATED';

/**
 * Records that a key was used from an address where it may not be: for each key once a minute, because who has stolen
 * it may try without end.
 */
export function recordRefusedUses(pool: Pool, firsts: FirstOfMinute): (ctx: Context) => void {
  return (ctx) => {
    const { key } = callerOf(ctx);
    const end = { outcome: 'refused', status: 403, code: 'FORBIDDEN' } as const;
    const entry = { ...senderOf(ctx), action: 'useKey', resource: 'keys', recordIds: [key.id], members: [], ...end };
    // Failure policy: the request is refused all the same.
    recordFirst(pool, entry, firsts).catch((reason: unknown) => {
      logOf(ctx).warn(
        { cause: causeOf(reason), keyId: key.id },
        'failed to record a refused use of an API key in the audit log',
      );
    });
  };
}

/** Records what came to nothing: of equal ones of a key, the first in a minute. */
async function recordFirst(pool: Pool, entry: AuditEntry, firsts: FirstOfMinute): Promise<void> {
  const what = [entry.keyId, entry.action, entry.status, entry.code].join(' ');
  if (!firsts.take(entry.organizationId, what)) return;
  try {
    await recordEntry(pool, entry);
  } catch (error) {
    firsts.giveBack(entry.organizationId, what);
    throw error;
  }
}

/**
 * Records that something was read: by one key from one address the same records by the same question, once a minute.
 * When there is no room to remember more, every read is recorded.
 */
async function recordFirstRead(pool: Pool, entry: AuditEntry, firsts: FirstOfMinute, asked: string[]): Promise<void> {
  const { organizationId, keyId, address, action, status, code, recordIds } = entry;
  // Hashed, because a query and the ids of a list may be long.
  const what = createHash('sha256')
    .update(JSON.stringify([keyId, address, action, status, code, asked, recordIds]))
    .digest('base64');
  if (firsts.has(organizationId, what)) return;
  await recordEntry(pool, entry);
  // Only now: an equal read meanwhile is not answered on the word of a record that may fail.
  firsts.take(organizationId, what);
}

/** What a read asked for: searches in payloads name no records, and repeats are told apart by their keys only. */
const asked = (ctx: Context): string[] => [ctx.path, ctx.querystring, ctx.get('idempotency-key')];

function endOf(error: unknown): End {
  if (!(error instanceof ApiError)) return { outcome: 'failed' };
  return { outcome: error.status < 500 ? 'refused' : 'failed', status: error.status, code: error.code };
}

function describe(ctx: Context, { operationId, tag, body }: Described): Omit<AuditEntry, 'outcome'> {
  const { id } = ctx.params;
  const { recordIds: others = [], recordCount } = ctx.state.audit ?? {};
  return {
    ...senderOf(ctx),
    action: operationId,
    resource: TAGS[tag].records ?? '',
    recordIds: [...new Set([...(isSomeId(id) ? [id] : []), ...others])],
    ...(recordCount !== undefined && { recordCount }),
    members: body ? memberNames(body.schema, ctx.state.sent) : [],
  };
}

function senderOf(ctx: Context) {
  const { organization, key } = callerOf(ctx);
  return {
    organizationId: organization.id,
    actor: 'key' as const,
    keyId: key.id,
    keyName: key.name,
    address: ctx.state.client.address,
    userAgent: recordedAgent(ctx.get('user-agent')),
    requestId: ctx.state.requestId,
  };
}

// Lets through the first of equal happenings in a minute: for what a tenant can cause without end, and what is stored
// for each.

// For each tenant, so that none uses up the room of another; this bounds memory and what is stored.
const MOST_PER_OWNER = 200;

/** What was let through in the current minute, in this process. */
export class FirstOfMinute {
  readonly #most: number;
  #minute = -1;
  #seen = new Map<string, Set<string>>();

  /** @param most different ones of one owner in a minute */
  constructor(most: number = MOST_PER_OWNER) {
    this.#most = most;
  }

  has(owner: string, what: string): boolean {
    return this.#of(owner).has(what);
  }

  /** Whether it is the first of its owner in this minute. Beyond the most different ones no further one is. */
  take(owner: string, what: string): boolean {
    const seen = this.#of(owner);
    if (seen.has(what) || seen.size >= this.#most) return false;
    seen.add(what);
    return true;
  }

  giveBack(owner: string, what: string): void {
    this.#of(owner).delete(what);
  }

  #of(owner: string): Set<string> {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#seen.clear();
    this.#minute = minute;
    const seen = this.#seen.get(owner) ?? new Set();
    this.#seen.set(owner, seen);
    return seen;
  }
}
