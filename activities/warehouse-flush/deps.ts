import type { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { IssueSink } from '../../core/messages/issues.ts';
import type { Log } from '../../core/process/log.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import type { StoredDestination } from '../../db/warehouse/batches.ts';
import { decryptedWarehouseConfig } from '../../db/warehouse/config.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { Warehouses, WarehouseTarget } from '../../outbound/warehouses/index.ts';
import type { ConfigCache } from '../config-cache.ts';

export interface FlushDeps {
  hotPool: Pool;
  /** Runs everything else; a separate pool, so that commands do not queue behind it. */
  pool: Pool;
  secretBox: SecretBox;
  configs: Pick<ConfigCache, 'route' | 'transform'>;
  threads: Pick<Threads, 'rows' | 'rowGroup' | 'runTransform'>;
  warehouses: Pick<Warehouses, 'put' | 'begin'>;
  slots: FairQueue;
  issues: IssueSink;
  log: Log;
}

/** Why nothing can be written to a destination, and how its deliveries end, as those to an HTTP destination do. */
export type Unusable = { ok: false; ending: 'cancelled' | 'failed' | 'skipped'; reason: DescribedError };

export type UsableDestination = { ok: true; target: WarehouseTarget } & Pick<StoredDestination, 'fieldMapping'>;

/** @throws DecryptionError when the encryption key is missing or wrong */
export function openDestination(
  { secretBox }: Pick<FlushDeps, 'secretBox'>,
  stored: StoredDestination | undefined,
): UsableDestination | Unusable {
  if (!stored) return { ok: false, ending: 'cancelled', reason: openError(ownWords`The destination was deleted`) };
  if (!stored.enabled)
    return { ok: false, ending: 'skipped', reason: openError(ownWords`The destination is disabled`) };
  const type = WAREHOUSE_TYPES.find((known) => known === stored.type);
  if (type === undefined) throw new Error(`${stored.id} is of type ${stored.type}, which is not a warehouse`);
  const opened = decryptedWarehouseConfig(secretBox, { id: stored.id, type, config: stored.config });
  if (!opened.ok) return { ok: false, ending: 'failed', reason: openError(opened.message) };
  const target = {
    id: stored.id,
    version: stored.version,
    organizationId: stored.organizationId,
    organization: stored.organization,
    type: opened.type,
    config: opened.config,
  } as WarehouseTarget;
  return { ok: true, target, fieldMapping: stored.fieldMapping };
}
