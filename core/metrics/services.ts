import { CHANNEL_TYPES } from '../messages/channel.ts';
import { WAREHOUSE_TYPES } from '../warehouse/config.ts';
import { Counter, Histogram } from './instruments.ts';
import { TRANSFORM_TYPES } from '../config/transform-types.ts';

export const transformDuration = new Histogram({
  name: 'hookyard_transform_duration_seconds',
  help: 'Run time of transform code, excluding waiting and loading.',
  labels: { language: TRANSFORM_TYPES },
});

export const transformFailures = new Counter({
  name: 'hookyard_transform_failures_total',
  help: 'Transform runs without a result: the code failed, exceeded a limit (time, memory, output) or returned nothing, or the sandbox itself failed (sandbox).',
  labels: { cause: ['code', 'time', 'memory', 'output', 'nothing', 'sandbox'] },
});

/** What the reconciliation repairs: as its log and its result name it, and as the label. */
export const REPAIR_LABELS = {
  'deliveries resumed': 'deliveries_resumed',
  'deliveries started again': 'deliveries_started_again',
  'deliveries failed': 'deliveries_failed',
  'workflows signalled': 'workflows_signalled',
  'workflows ended': 'workflows_ended',
  'circuits woken': 'circuits_woken',
  'warehouses woken': 'warehouses_woken',
} as const;
export type Repair = keyof typeof REPAIR_LABELS;

export const warehouseUploads = new Counter({
  name: 'hookyard_warehouse_uploads_total',
  help: 'Uploads of files to warehouses, by result: written, failed (a temporary error), or refused (an error to fix, such as wrong credentials).',
  labels: { provider: WAREHOUSE_TYPES, result: ['written', 'failed', 'refused'] },
  in: ['worker'],
});

export const reconciliationRepairs = new Counter({
  name: 'hookyard_reconciliation_repairs_total',
  help: 'Repaired inconsistencies between PostgreSQL and Temporal.',
  labels: { kind: Object.values(REPAIR_LABELS) },
  in: ['worker'],
});

export const notifications = new Counter({
  name: 'hookyard_notifications_total',
  help: 'Notifications and alert channel messages, by result: sent, withheld (no allowed recipient), failed (an attempt failed), or given_up (no more attempts).',
  labels: { channel: ['log', ...CHANNEL_TYPES], result: ['sent', 'withheld', 'failed', 'given_up'] },
  in: ['worker'],
});
