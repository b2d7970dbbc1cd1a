// What is measured of the whole installation. One process at a time takes the figures (telemetry/sampler.ts); every
// process shows the same ones, so take one of them: max by ().
import { ISSUE_KINDS, type IssueKind } from '../messages/issues.ts';
import { Gauge } from './instruments.ts';

export const SNAPSHOT_GAUGES = {
  waiting: new Gauge({
    name: 'hookyard_deliveries_waiting',
    help: 'Deliveries waiting for their first attempt, a retry, or an earlier event with the same ordering key, or held by an open circuit breaker or a pause.',
  }),
  due: new Gauge({
    name: 'hookyard_deliveries_due',
    help: 'Deliveries waiting for a worker or in their first attempt, excluding those of suspended organizations, those to warehouses, and those to destinations at their rate limit.',
  }),
  oldestDueAge: new Gauge({
    name: 'hookyard_oldest_due_age_seconds',
    help: 'Age of the oldest delivery in hookyard_deliveries_due; 0 if there is none.',
  }),
  retrying: new Gauge({
    name: 'hookyard_deliveries_retrying',
    help: 'Deliveries waiting for a retry.',
  }),
  held: new Gauge({
    name: 'hookyard_deliveries_held',
    help: 'Deliveries held by an open circuit breaker or a pause.',
  }),
  waitingInOrder: new Gauge({
    name: 'hookyard_deliveries_waiting_in_order',
    help: 'Deliveries waiting for an earlier event with the same ordering key.',
  }),
  blockedKeys: new Gauge({
    name: 'hookyard_order_keys_blocked',
    help: 'Ordering keys blocked by a delivery that has used up its retries.',
  }),
  oldestBlockedKey: new Gauge({
    name: 'hookyard_oldest_blocked_order_key_seconds',
    help: 'Age of the oldest block of an ordering key; 0 if no key is blocked.',
  }),
  replays: new Gauge({
    name: 'hookyard_replays_running',
    help: 'Unfinished event replays.',
  }),
  databaseBytes: new Gauge({
    name: 'hookyard_database_bytes',
    help: 'Size of the database on disk, excluding the Temporal databases and WAL.',
  }),
  retentionLag: new Gauge({
    name: 'hookyard_retention_lag_seconds',
    help: 'How long the deletion of the oldest data has been overdue.',
  }),
  warehouseOldestOpen: new Gauge({
    name: 'hookyard_warehouse_oldest_open_seconds',
    help: 'Age of the oldest delivery waiting for a warehouse file to be written; 0 if there is none.',
  }),
  workers: new Gauge({
    name: 'hookyard_workers',
    help: 'Workers that were active in the last few seconds.',
  }),
} as const;

/** The figures of a snapshot, as they are stored. One that could not be taken is missing. */
export type Figures = Partial<Record<keyof typeof SNAPSHOT_GAUGES, number>> & {
  circuits?: { open: number; half_open: number };
  /** Open and acknowledged ones; a kind without one is missing. */
  issues?: Partial<Record<IssueKind, number>>;
};

export const circuitsOpen = new Gauge({
  name: 'hookyard_circuits_open',
  help: 'Routes whose circuit breaker is not closed.',
  labels: { state: ['open', 'half_open'] },
});

export const issuesOpen = new Gauge({
  name: 'hookyard_issues_open',
  help: 'Open or acknowledged issues of all organizations.',
  labels: { kind: ISSUE_KINDS },
});

export const snapshotAge = new Gauge({
  name: 'hookyard_snapshot_age_seconds',
  help: 'Age of the installation-wide metrics, such as hookyard_deliveries_waiting.',
});

/** Not of the snapshot, which tells nothing of a database that is away. */
export const databaseUp = new Gauge({
  name: 'hookyard_database_up',
  help: 'Is 1 if this process could use PostgreSQL a few seconds ago (read from it, and write to it if the process needs to); otherwise 0.',
});

export const databaseLimit = new Gauge({
  name: 'hookyard_database_limit_bytes',
  help: 'Database size at which ingest returns 503 (HOOKYARD_MAX_DATABASE_BYTES); absent if not set.',
});
