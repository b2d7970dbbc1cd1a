// The state of the installation, for its operator: what waits, workers, circuits, retention, Temporal.
// Rules: STATUS-01 to STATUS-09.
import { z } from 'zod';
import type { Settings } from '../../../core/config/config.ts';
import type { Log } from '../../../core/process/log.ts';
import { causeOf } from '../../../core/process/log-cause.ts';
import { payloadDays } from '../../../core/config/payload-days.ts';
import { throttled } from '../../../core/process/throttled-log.ts';
import type { Tuning } from '../../../core/config/tuning.ts';
import { databaseTime } from '../../../db/clock.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { type InstallationStatus, readInstallation } from '../../../db/status/installation.ts';
import { type RetentionLag, retentionLag } from '../../../db/status/retention-lag.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { ApiRouter } from '../../request/context.ts';
import { requireOperator } from '../../auth/operator-key.ts';
import { booleanParam } from '../../request/query.ts';
import { isoTime } from '../records.ts';
import { parseQuery } from '../../request/validation.ts';
import { type HealthDeps, hasSearchAttributes } from './health.ts';

/** How long an answer about the database is given again, ms. */
const KEPT_MS = 1000;
const DEADLINE_MS = 5000;
const TEMPORAL_DEADLINE_MS = 2000;

export const statusSchema = z.object({
  organizations: booleanParam.meta({ description: 'Lists the organizations with most that waits, at most 100.' }),
});

type StatusSettings = Pick<
  Settings,
  | 'HOOKYARD_OPERATOR_KEY'
  | 'HOOKYARD_OPERATOR_KEY_FILE'
  | 'HOOKYARD_MAX_BACKLOG'
  | 'HOOKYARD_MAX_DATABASE_BYTES'
  | 'HOOKYARD_PAYLOAD_RETENTION_DAYS'
  | 'HOOKYARD_EVENT_RETENTION_DAYS'
>;

export interface StatusDeps {
  settings: StatusSettings;
  tuning: Pick<Tuning, 'failedSignInsPerMinute'>;
  /** It belongs to no organization. */
  slowPool: Pool;
  health: Pick<HealthDeps, 'ingestState' | 'temporal' | 'searchAttributes'>;
  log: Log;
}

/** What the database says. */
interface Found extends InstallationStatus {
  at: Date;
  retention: { payloads: RetentionLag; events: RetentionLag };
}

/**
 * Failure policy: an operator asks most when something is wrong, so what cannot be read is null, and the rest is answered.
 */
export function mountStatus(router: ApiRouter, deps: StatusDeps): void {
  const { settings, health, log } = deps;
  const find = keptFor(KEPT_MS, () => findAll(deps));
  router.get('/api/status', requireOperator(deps), async (ctx) => {
    const { organizations = false } = parseQuery(ctx, statusSchema);
    const [found, temporal, searchAttributes] = await Promise.all([
      withinDeadline(find(), (error) =>
        throttled(log).warn({ cause: causeOf(error) }, 'the status could not be read from the database'),
      ),
      health.temporal.within(TEMPORAL_DEADLINE_MS),
      health.searchAttributes.within(TEMPORAL_DEADLINE_MS),
    ]);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      version: packageJson.version,
      at: isoTime(found?.at ?? new Date()),
      ingest: health.ingestState(),
      temporal: temporal === null ? 'ok' : 'away',
      searchAttributes: hasSearchAttributes(searchAttributes),
      database: found ? 'ok' : 'away',
      limits: {
        waitingDeliveries: settings.HOOKYARD_MAX_BACKLOG || null,
        databaseBytes: settings.HOOKYARD_MAX_DATABASE_BYTES ?? null,
      },
      ...(found ? shown(found, organizations) : NOTHING),
    };
  });
}

const NOTHING = {
  databaseBytes: null,
  backlog: null,
  workers: null,
  shardsWithoutOwner: null,
  circuits: null,
  retention: null,
  housekeeping: null,
};

function shown(found: Found, withOrganizations: boolean) {
  const { at, waiting, organizations, workers, shardsWithoutOwner, circuits, housekeeping } = found;
  const { oldestDueAt } = waiting;
  return {
    databaseBytes: found.databaseBytes,
    backlog: {
      ...waiting,
      oldestDueAt: isoTime(oldestDueAt),
      oldestDueSeconds: oldestDueAt && Math.max(0, Math.round((at.getTime() - oldestDueAt.getTime()) / 1000)),
    },
    workers: workers.map((worker) => ({ ...worker, seenAt: isoTime(worker.seenAt) })),
    shardsWithoutOwner,
    circuits,
    retention: found.retention,
    housekeeping: {
      failures: housekeeping.failures.map((failure) => ({ ...failure, lastAt: isoTime(failure.lastAt) })),
    },
    ...(withOrganizations && {
      organizations: organizations.map((each) => ({ ...each, oldestDueAt: isoTime(each.oldestDueAt) })),
    }),
  };
}

async function findAll({ slowPool, settings }: StatusDeps): Promise<Found> {
  const now = await databaseTime(slowPool);
  const found = await readInstallation(slowPool);
  const eventDays = settings.HOOKYARD_EVENT_RETENTION_DAYS || null;
  return {
    ...found,
    at: new Date(now),
    retention: {
      payloads: await retentionLag(slowPool, 'event_payloads', payloadDays(settings), now),
      events: await retentionLag(slowPool, 'events', eventDays, now),
    },
  };
}

/** One call at a time, whose result is given again for a while. */
function keptFor<T>(ms: number, call: () => Promise<T>): () => Promise<T> {
  let last: { result: Promise<T>; until: number } | undefined;
  return () => {
    if (last && performance.now() < last.until) return last.result;
    const made = { result: call(), until: Number.POSITIVE_INFINITY };
    last = made;
    const end = () => {
      made.until = performance.now() + ms;
    };
    made.result.then(end, end);
    return made.result;
  };
}

/** @returns null when it fails, or takes too long */
async function withinDeadline<T>(result: Promise<T>, onError: (error: unknown) => void): Promise<T | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), DEADLINE_MS);
  const found = result.catch((error: unknown) => {
    onError(error);
    return null;
  });
  return Promise.race([found, tooLate]).finally(() => clearTimeout(timer));
}
