// Housekeeping: future partitions, retention, rows of deleted sources, and the statistics that keep totals fast.
import type { Settings } from '../core/config/config.ts';
import type { Log } from '../core/process/log.ts';
import { payloadDays } from '../core/config/payload-days.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import { keyUse, reencrypt } from '../db/encryption/rotation.ts';
import { forgetAuditRecords } from '../db/audit/records.ts';
import { forgetIdempotentRequests } from '../db/management/idempotent-requests.ts';
import { ensurePartitions } from '../db/retention/partitions.ts';
import { mergeRollups } from '../db/ledger/roll-up.ts';
import type { Pool } from '../db/connections/pool.ts';
import { forgetIdempotencyKeys } from '../db/retention/idempotency-keys.ts';
import { forgetIssues } from '../db/retention/issues.ts';
import { forgetRefusals } from '../db/retention/refusals.ts';
import { forgetRotatedSecrets } from '../db/retention/rotated-secrets.ts';
import { tellOfFailure } from './background-steps.ts';
import { finishDeletions } from './deletions.ts';
import { finishOrganizations, type OrganizationDeletionDeps } from './organization-deletions.ts';
import { applyRetention, type RetentionDeps, type RetentionSettings } from './retention.ts';

// How long one round merges old statistics; after an upgrade it has months to catch up with.
const TALLY_MS = 5000;

export interface MaintenanceDeps extends OrganizationDeletionDeps {
  pool: Pool;
  secretBox: SecretBox;
  settings: RetentionSettings & Pick<Settings, 'HOOKYARD_AUDIT_RETENTION_DAYS'>;
  tuning: RetentionDeps['tuning'];
  log: Log;
}

/** What one round does; each part returns whether it has more to do now; a failing part does not stop the others. */
const PARTS: Record<string, (deps: MaintenanceDeps) => Promise<boolean>> = {
  partitions: ({ pool }) => ensurePartitions(pool).then(() => false),
  retention: applyRetention,
  'audit records': ({ pool, settings }) => forgetAuditRecords(pool, settings.HOOKYARD_AUDIT_RETENTION_DAYS),
  'idempotency keys': ({ pool }) => forgetIdempotencyKeys(pool),
  'idempotent requests': ({ pool }) => forgetIdempotentRequests(pool),
  'refused webhooks': ({ pool, settings }) => forgetRefusals(pool, payloadDays(settings)),
  issues: ({ pool }) => forgetIssues(pool),
  'rotated secrets': ({ pool }) => forgetRotatedSecrets(pool).then(() => false),
  deletions: ({ pool, log }) => finishDeletions(pool, log),
  organizations: finishOrganizations,
  'encryption keys': ({ pool, secretBox, log }) => rotateKeys(pool, secretBox, log),
  'roll-ups': ({ pool }) => mergeRollups(pool, TALLY_MS),
};

/**
 * One round.
 * @returns true when there is more to do right now: expired or deleted rows, hours to merge, old keys
 * @throws HousekeepingError when parts failed and no other has more to do: until then, rounds are for the others
 */
export async function maintain(deps: MaintenanceDeps): Promise<boolean> {
  const failed: string[] = [];
  let hasMore = false;
  // One after the other, so that housekeeping takes few connections.
  for (const [part, run] of Object.entries(PARTS)) {
    try {
      hasMore = (await run(deps)) || hasMore;
    } catch (error) {
      failed.push(part);
      await tellOfFailure(deps, part, error);
    }
  }
  if (failed.length > 0 && !hasMore) throw new HousekeepingError(failed);
  return hasMore;
}

/** Parts of a round that failed; the log and `upkeep` say how. */
export class HousekeepingError extends Error {
  override readonly name = 'HousekeepingError';
  constructor(parts: string[]) {
    super(`Housekeeping could not do all of its work: ${parts.join(', ')}; see the worker's log`);
  }
}

/** Re-encrypts values that need a key other than the first, and logs when a key is no longer needed. */
async function rotateKeys(pool: Pool, box: SecretBox, log: Log): Promise<boolean> {
  const { encrypted, failed, more } = await reencrypt(pool, box);
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
