// First attempts as a worker process makes them, with real deliveries to a receiver, without Temporal.
import { randomBytes } from 'node:crypto';
import { PendingOpenings } from '../../../activities/attempt/admission.ts';
import type { AttemptDeps } from '../../../activities/attempt/index.ts';
import { createContextLoader, createResultRecorder } from '../../../activities/attempt/results.ts';
import { createConfigCache } from '../../../activities/config-cache.ts';
import { readSettings } from '../../../core/config/config.ts';
import { DestinationConcurrency } from '../../../core/delivery/destination-concurrency.ts';
import { FairQueue } from '../../../core/fairness/fair-queue.ts';
import { IssueCounts } from '../../../core/messages/issue-counts.ts';
import { createLog } from '../../../core/process/log.ts';
import { SecretBox } from '../../../db/encryption/secret-box.ts';
import { createSender } from '../../../outbound/http/sender.ts';
import { firstRoute, type HistoryOwner, storeEvent } from '../database/history.ts';
import type { Endpoint } from '../receiver.ts';
import { testThreads } from '../threads.ts';
import { useHistoryDatabase, usePool, useReceiver } from '../use-hookyard.ts';
import { execute } from '../database/sql.ts';

export function useAttempts() {
  const { database } = useHistoryDatabase(1);
  const pool = usePool(database, { max: 4, hotPath: true });
  const receiver = useReceiver();
  const issues = new IssueCounts();
  const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
  let shared: Pick<AttemptDeps, 'sender' | 'threads' | 'configs' | 'contexts'>;
  before(() => {
    shared = {
      sender: createSender({ allow: ['127.0.0.1'] }),
      threads: testThreads(1),
      configs: createConfigCache(pool, new SecretBox([{ id: 'k1', key: randomBytes(32) }]), () => false),
      contexts: createContextLoader(pool),
    };
  });
  after(() => Promise.all([shared.sender.close(), shared.threads.close()]));

  /** What a worker process has. */
  const worker = (own: Partial<AttemptDeps> = {}): AttemptDeps => ({
    ...shared,
    bodies: new FairQueue(268_435_456, 1),
    bodyWaitMs: 5000,
    pool,
    log,
    awaitRecordMs: 30_000,
    results: createResultRecorder(own.pool ?? pool, log, issues),
    issues,
    pendingOpenings: new PendingOpenings(),
    isSuspended: () => false,
    onSlot: () => {},
    concurrency: new DestinationConcurrency(50),
    hasPermit: () => false,
    onRoom: () => {},
    onAnswered: () => {},
    headerPrefix: 'X-Hookyard-',
    version: '0',
    ...own,
  });

  /** The first attempt of a new delivery, to an endpoint. */
  async function delivery(owner: HistoryOwner, endpoint: Endpoint, body = '{}') {
    const route = firstRoute(owner);
    await execute(database.pool)`update destinations set url = ${endpoint.url}, version = version + 1
      where id = any(${[...route.destinationIds, route.failoverId]})`;
    const event = await storeEvent(database.pool, owner, route, {
      receivedAt: new Date(),
      statuses: ['pending'],
      body,
    });
    const { organizationId } = owner;
    const deliveryId = event.deliveries[0]?.id ?? '';
    return { organizationId, deliveryId, eventId: event.id, attempt: 1, retryDelay: 1000 };
  }

  return { database, pool, receiver, worker, delivery };
}
