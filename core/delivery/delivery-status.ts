/** The statuses of a delivery that has not ended. */
export const OPEN_STATUSES = ['pending', 'retrying', 'circuit_open'] as const;

/** All statuses of a delivery (DLV-04 to DLV-12). */
export const DELIVERY_STATUSES = [
  ...OPEN_STATUSES,
  'delivered',
  'failed',
  'failed_over',
  'schema_failed',
  'filter_failed',
  'skipped',
  'cancelled',
] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const open = new Set<string>(OPEN_STATUSES);

/** Whether a delivery with this status has not ended. */
export const isOpenStatus = (status: string): boolean => open.has(status);
