// Housekeeping: future partitions, retention, rows of deleted sources, and the statistics that keep totals fast.
// Payloads, then whole events with their deliveries and attempts, end by dropping their partitions
// (docs/operate/retention.md).
import { payloadDays, type Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { keyUse, reencrypt } from '../../db/encryption/keys.ts';
import { forgetAuditRecords } from '../../db/organizations/audit.ts';
import { forgetIdempotentRequests } from '../../db/organizations/idempotent-requests.ts';
import { daysBefore, dropPartitionsBefore, ensurePartitions, type PartitionedTable } from '../../db/sql/partitions.ts';
import { mergeRollups } from '../../db/ledger/roll-up.ts';
import type { Pool } from '../../db/connections/pool.ts';
import {
  forgetIdempotencyKeys,
  forgetIssues,
  forgetRefusals,
  forgetRotatedSecrets,
  forgetEarlierVersions,
} from '../../db/operations/expired.ts';
import { finishDeletions, finishOrganizations, type OrganizationDeletionDeps, tellOfFailure } from './deletions.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { databaseTime } from '../../db/sql/rules.ts';
import { forgetEnded } from '../../db/sql/ranges.ts';
import {
  failOpenDeliveries,
  firstDayInFiles,
  firstKeptDays,
  removeWaitingBefore,
  removeYoungerDeliveries,
  type RetentionDays,
} from '../../db/operations/retention.ts';
import { forgetOrderKeys, repairOrder } from '../../db/delivery/ordering.ts';

// How long one round merges old statistics; after an upgrade it has months to catch up with.
const TALLY_MS = 5000;

export interface MaintenanceDeps extends OrganizationDeletionDeps {
  pool: Pool;
  secretBox: SecretBox;
  settings: RetentionDays & Pick<Settings, 'HOOKYARD_AUDIT_RETENTION_DAYS'>;
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
  'ordering keys': keepOrderKeys,
  'rotated secrets': ({ pool }) => forgetRotatedSecrets(pool).then(() => false),
  deletions: ({ pool, log }) => finishDeletions(pool, log),
  organizations: finishOrganizations,
  'encryption keys': ({ pool, secretBox, log }) => rotateKeys(pool, secretBox, log),
  'roll-ups': ({ pool }) => mergeRollups(pool, TALLY_MS),
};

/**
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

export class HousekeepingError extends Error {
  override readonly name = 'HousekeepingError';
  constructor(parts: string[]) {
    super(`Housekeeping tasks failed: ${parts.join(', ')}; see the worker's log`);
  }
}

/** Keys of which a partition took the head get the next one; those without events for as long as events are kept go. */
async function keepOrderKeys({ pool, settings, log }: MaintenanceDeps): Promise<boolean> {
  const advanced = await repairOrder(pool);
  if (advanced > 0) log.warn({ count: advanced }, 'repaired ordering keys that were waiting for a missing delivery');
  await forgetOrderKeys(pool, settings.HOOKYARD_EVENT_RETENTION_DAYS || null);
  return false;
}

/** Re-encrypts values that need a key other than the first, and logs when a key is no longer needed. */
async function rotateKeys(pool: Pool, box: SecretBox, log: Log): Promise<boolean> {
  const { encrypted, failed, more } = await reencrypt(pool, box);
  if (failed.length > 0) {
    log.error(
      { count: failed.length, ids: failed.slice(0, 10) },
      'HOOKYARD_ENCRYPTION_KEYS cannot decrypt some data, which is damaged or was encrypted with different keys that have the same IDs; set the keys that were used before',
    );
  }
  if (encrypted === 0) return false;
  const needed = new Set((await keyUse(pool, false)).map(({ keyId }) => keyId));
  log.info(
    { encrypted, stillNeeded: [...needed], needless: box.olderKeyIds.filter((id) => !needed.has(id)) },
    'stored secrets were re-encrypted with the first encryption key; before you remove a key, see docs/operate/encryption.md',
  );
  return more;
}

export interface RetentionDeps {
  pool: Pool;
  settings: RetentionDays;
  tuning: Pick<Tuning, 'warehouseRetrySeconds'>;
  log: Log;
}

const ENDING_MS = 15_000;
const REMOVING_MS = 10_000;

// Margin of a file beyond its retry time. A file that takes longer is broken (its keys or its worker, for example) and
// must not keep the payloads of all organizations for ever.
const FILE_MARGIN_SECONDS = 86_400;

/**
 * @returns true when there is more to do now. Partitions that are being read are left to the next run of the schedule
 * @throws a database error; partitions dropped before it stay dropped
 */
export async function applyRetention(deps: RetentionDeps): Promise<boolean> {
  const { pool, settings, tuning, log } = deps;
  const kept = firstKeptDays(settings, await databaseTime(pool));
  if (kept.payloads === null) return false;
  if ((await daysBefore(pool, 'event_payloads', kept.payloads)).length > 0) {
    const { failed, refused, done } = await failOpenDeliveries(pool, kept.payloads, ENDING_MS);
    if (failed > 0) log.warn({ failed }, 'deliveries failed: the retention period of their payloads has ended');
    if (refused.length > 0) {
      const ids = refused.slice(0, 10);
      log.error(
        { refused: refused.length, ids },
        'PostgreSQL rejected the status "failed" for these deliveries; removing their payloads anyway',
      );
    }
    if (!done || failed > 0) return true;
  }
  // Checked after that, because files may have taken some of the open deliveries.
  const inFiles = await firstDayInFiles(pool, tuning.warehouseRetrySeconds + FILE_MARGIN_SECONDS);
  if (!(await drop(deps, 'event_payloads', Math.min(kept.payloads, inFiles)))) return false;
  await forgetEarlierVersions(pool, Math.min(kept.payloads, inFiles));
  if (kept.events === null) return false;
  const day = Math.min(kept.events, inFiles);
  if (await removeYounger(pool, day)) return true;
  // Children first: there is never a delivery without its event.
  for (const table of ['attempts', 'deliveries', 'events'] as const) {
    if (!(await drop(deps, table, day))) return false;
  }
  await removeWaitingBefore(pool, day);
  // Not before their deliveries.
  if (day < kept.events) return false;
  for (const table of ['event_replays', 'warehouse_batches'] as const)
    await forgetEnded(pool, table, settings.HOOKYARD_EVENT_RETENTION_DAYS);
  return false;
}

async function removeYounger(pool: Pool, day: number): Promise<boolean> {
  const until = performance.now() + REMOVING_MS;
  while (await removeYoungerDeliveries(pool, day)) if (performance.now() > until) return true;
  return false;
}

/** @returns whether all of them are gone */
async function drop({ pool, log }: RetentionDeps, table: PartitionedTable, day: number): Promise<boolean> {
  const { dropped, inUse } = await dropPartitionsBefore(pool, table, day);
  if (dropped.length > 0) log.info({ dropped }, 'dropped partitions whose retention period has ended');
  if (inUse)
    log.warn(inUse, 'retention is waiting for a transaction that uses the table; trying again within five minutes');
  return inUse === null;
}
