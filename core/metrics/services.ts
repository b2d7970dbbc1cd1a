// What is measured of warehouses, notifications and repairs.
import { CHANNEL_TYPES } from '../messages/channel.ts';
import { WAREHOUSE_TYPES } from '../warehouse/config.ts';
import { Counter } from './instruments.ts';

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
  help: 'Uploads of files to object stores; refused: the store will not take it as it is.',
  labels: { provider: WAREHOUSE_TYPES, result: ['written', 'failed', 'refused'] },
  in: ['worker'],
});

export const reconciliationRepairs = new Counter({
  name: 'hookyard_reconciliation_repairs_total',
  help: 'Disagreements between PostgreSQL and Temporal that were repaired.',
  labels: { kind: Object.values(REPAIR_LABELS) },
  in: ['worker'],
});

export const notifications = new Counter({
  name: 'hookyard_notifications_total',
  help: 'Notifications by result: withheld had no recipient that may be notified, failed is tried again, given_up is not.',
  labels: { channel: ['log', ...CHANNEL_TYPES], result: ['sent', 'withheld', 'failed', 'given_up'] },
  in: ['worker'],
});
