// What is measured of the whole installation. One process at a time takes the figures (telemetry/sampler.ts); every
// process shows the same ones, so take one of them: max by ().
import { ISSUE_KINDS, type IssueKind } from '../messages/issues.ts';
import { Gauge } from './instruments.ts';

/** The figures of a snapshot, as they are stored. One that could not be taken is missing. */
export interface Figures {
  waiting?: number;
  due?: number;
  /** Seconds; 0 when nothing is due. */
  oldestDueAge?: number;
  retrying?: number;
  held?: number;
  circuits?: { open: number; half_open: number };
  /** Open and acknowledged ones; a kind without one is missing. */
  issues?: Partial<Record<IssueKind, number>>;
  replays?: number;
  databaseBytes?: number;
  retentionLag?: number;
  warehouseOldestOpen?: number;
  workers?: number;
}

export const SNAPSHOT_GAUGES = {
  waiting: new Gauge({
    name: 'hookyard_deliveries_waiting',
    help: 'Deliveries that wait: for their first attempt, for a retry, or for a circuit or the end of a pause.',
  }),
  due: new Gauge({
    name: 'hookyard_deliveries_due',
    help: 'Deliveries that wait for their first attempt, without deliveries of suspended organizations and of destinations at their rate limit.',
  }),
  oldestDueAge: new Gauge({
    name: 'hookyard_oldest_due_age_seconds',
    help: 'The age of the oldest of hookyard_deliveries_due; 0 when there is none.',
  }),
  retrying: new Gauge({
    name: 'hookyard_deliveries_retrying',
    help: 'Deliveries that wait for a retry.',
  }),
  held: new Gauge({
    name: 'hookyard_deliveries_held',
    help: 'Deliveries that wait because the circuit of their route is open, or of a pause.',
  }),
  replays: new Gauge({
    name: 'hookyard_replays_running',
    help: 'Replays of events that have not ended.',
  }),
  databaseBytes: new Gauge({
    name: 'hookyard_database_bytes',
    help: 'Size of the database on disk, without the databases of Temporal and without WAL.',
  }),
  retentionLag: new Gauge({
    name: 'hookyard_retention_lag_seconds',
    help: 'For how long the oldest data should have been removed by the retention.',
  }),
  warehouseOldestOpen: new Gauge({
    name: 'hookyard_warehouse_oldest_open_seconds',
    help: 'The age of the oldest delivery that waits for a file of a warehouse to be written; 0 when there is none.',
  }),
  workers: new Gauge({
    name: 'hookyard_workers',
    help: 'Workers that were seen in the last seconds.',
  }),
} as const satisfies Partial<Record<keyof Figures, Gauge>>;

export const circuitsOpen = new Gauge({
  name: 'hookyard_circuits_open',
  help: 'Routes whose circuit is not closed.',
  labels: { state: ['open', 'half_open'] },
});

export const issuesOpen = new Gauge({
  name: 'hookyard_issues_open',
  help: 'Issues of all organizations that are open or acknowledged.',
  labels: { kind: ISSUE_KINDS },
});

export const snapshotAge = new Gauge({
  name: 'hookyard_snapshot_age_seconds',
  help: 'The age of the figures of the whole installation, such as hookyard_deliveries_waiting.',
});

/** Not of the snapshot, which tells nothing of a database that is away. */
export const databaseUp = new Gauge({
  name: 'hookyard_database_up',
  help: 'Whether this process could read from PostgreSQL, and write when it had to, a few seconds ago: 1 or 0.',
});

export const databaseLimit = new Gauge({
  name: 'hookyard_database_limit_bytes',
  help: 'HOOKYARD_MAX_DATABASE_BYTES, if it is set: where ingest closes.',
});
