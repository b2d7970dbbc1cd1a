// Records of the audit log, read from the database.
import type { Pool } from '../../../db/connections/pool.ts';
import type { Json } from '../api-client.ts';

export interface AuditRecord extends Json {
  id: string;
  action: string;
  resource: string;
  recordIds: string[];
  recordCount: number;
  members: string[];
  outcome: string;
  status: number | null;
  code: string | null;
}

/** Those of one request, by the `X-Request-Id` of its answer. */
export async function auditRecordsOf(pool: Pool, { headers }: { headers: Headers }): Promise<AuditRecord[]> {
  const { rows } = await pool.query(
    `select *, record_ids as "recordIds", record_count as "recordCount" from audit_records where request_id = $1 order by id`,
    [headers.get('x-request-id')],
  );
  return rows as AuditRecord[];
}
