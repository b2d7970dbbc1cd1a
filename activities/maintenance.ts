// Housekeeping: partitions ahead of time, retention, rows of deleted sources, and the counts and statistics that keep lists and
// sums quick.
import type { Log } from '../core/log.ts';
import type { SecretBox } from '../db/encryption.ts';
import { encryptAnew, keyUse } from '../db/encryption-rotation.ts';
import { forgetIdempotentRequests } from '../db/idempotent-requests.ts';
import { ensurePartitions } from '../db/partitions.ts';
import { mergeBuckets } from '../db/history/merge-buckets.ts';
import { settleHistory } from '../db/history/settle.ts';
import type { Pool } from '../db/pool.ts';
import { finishDeletions } from './deletions.ts';
import { applyRetention, type RetentionSettings } from './retention.ts';

// How long one round counts what can be settled, and how long it merges old statistics; after an upgrade both have months
// to catch up with.
const TALLY_MS = 5000;
// Keys of webhooks that one statement removes.
const KEYS_STEP = 10_000;

export interface MaintenanceDeps {
  pool: Pool;
  secretBox: SecretBox;
  settings: RetentionSettings;
  log: Log;
}

/** One round. @returns true when there is more to do right now: expired or deleted rows, hours to count or merge, old keys */
export async function maintain({ pool, secretBox, settings, log }: MaintenanceDeps): Promise<boolean> {
  await ensurePartitions(pool);
  const isExpiring = await applyRetention({ pool, settings, log });
  const hasExpiredKeys = await forgetKeys(pool);
  const hasExpiredRequests = await forgetIdempotentRequests(pool);
  const isDeleting = await finishDeletions(pool, log);
  const isRotating = await rotateKeys(pool, secretBox, log);
  const settled = await settleHistory(pool, TALLY_MS);
  const isMerging = await mergeBuckets(pool, TALLY_MS);
  return (
    isExpiring ||
    hasExpiredKeys ||
    hasExpiredRequests ||
    isDeleting ||
    isRotating ||
    isMerging ||
    settled?.caughtUp === false
  );
}

// One that ingest is taking again at this moment is left to it: waiting for each other's keys would be a deadlock.
/** Removes one step of the idempotency keys of webhooks whose window has passed. */
async function forgetKeys(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from idempotency_keys where (source_id, key_hash) in
       (select source_id, key_hash from idempotency_keys where expires_at < now() order by expires_at limit $1
        for update skip locked)`,
    [KEYS_STEP],
  );
  return rowCount === KEYS_STEP;
}

/** Encrypts anew what needs a key other than the first, and says when a key is needed no more. */
async function rotateKeys(pool: Pool, box: SecretBox, log: Log): Promise<boolean> {
  const { encrypted, failed, more } = await encryptAnew(pool, box);
  if (failed.length > 0) {
    log.error(
      { count: failed.length, ids: failed.slice(0, 10) },
      'HOOKYARD_ENCRYPTION_KEYS does not open what its keys should have encrypted; set the keys that were used before',
    );
  }
  if (encrypted === 0) return false;
  const needed = new Set((await keyUse(pool, false)).map(({ keyId }) => keyId));
  log.info(
    { encrypted, stillNeeded: [...needed], needless: box.olderKeyIds.filter((id) => !needed.has(id)) },
    'stored secrets were encrypted with the first encryption key; those that are needless can be removed',
  );
  return more;
}
