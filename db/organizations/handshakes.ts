import { jsonParameter } from '../connections/parameters.ts';
import { type AuditEntry, recordChange } from './audit.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';

export interface Handshaken {
  sourceId: string;
  kind: string;
  at: Date;
  /** What the owner needs to continue, encrypted; null: nothing. */
  shown: string | null;
}

// One statement for all sources, in the order of their ids. A source that is being changed or deleted is left out:
// nobody waits for it.
const RECORD = `
insert into source_handshakes as h (source_id, organization_id, kind, answered_at, shown)
select s.id, s.organization_id, n.kind, n.at, n.shown
from json_to_recordset($1::json) as n("sourceId" text, kind text, at timestamptz, shown text)
join lateral (select id, organization_id from sources where id = n."sourceId" for key share skip locked) s on true
order by s.id
on conflict (source_id) do update set kind = excluded.kind, answered_at = excluded.answered_at, shown = excluded.shown
where h.answered_at <= excluded.answered_at`;

/** Stores them; each source at most once. @throws a database error */
export async function recordHandshakes(db: Queryable, handshakes: Handshaken[]): Promise<void> {
  await db.query(RECORD, [jsonParameter(handshakes)]);
}

export async function lastHandshakes(
  db: Queryable,
  organizationId: string,
  sourceIds: string[],
): Promise<Map<string, Omit<Handshaken, 'sourceId'>>> {
  const { rows } = await db.query<Handshaken>(
    `select source_id as "sourceId", kind, answered_at as at, shown from source_handshakes
     where organization_id = $1 and source_id = any($2::text[])`,
    [organizationId, sourceIds],
  );
  return new Map(rows.map(({ sourceId, ...handshake }) => [sourceId, handshake]));
}

export interface SentSecret {
  organizationId: string;
  sourceId: string;
  sealed: string;
  address: string;
  userAgent: string;
}

/**
 * Remembers the secret that came with a handshake, and records that in the audit log. Of two that come at once the
 * first wins: the condition is checked again when the row is locked.
 * @returns whether it was stored; false when the source has one
 */
export function rememberSecret(pool: Pool, sent: SentSecret): Promise<boolean> {
  const { organizationId, sourceId, sealed, address, userAgent } = sent;
  const entry: AuditEntry = {
    ...{ organizationId, address, userAgent },
    ...{ actor: 'provider', action: 'rememberSecret', resource: 'sources', outcome: 'done' },
    recordIds: [sourceId],
    members: ['verificationConfig.secret'],
  };
  return inTransaction(pool, async (db) => {
    const { rowCount } = await db.query(
      `update sources set verification_secret = $3, version = version + 1, updated_at = clock_timestamp()
       where id = $2 and organization_id = $1 and provider is not null and verification_secret is null`,
      [organizationId, sourceId, sealed],
    );
    if (rowCount !== 1) return false;
    await recordChange(async (statement, value) => (await db.query(statement('$1'), [value])).rowCount ?? 0, entry);
    return true;
  });
}
