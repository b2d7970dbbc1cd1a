/** The statuses of a delivery that has not ended. */
export const OPEN_STATUSES = ['pending', 'retrying', 'circuit_open'] as const;

const open = new Set<string>(OPEN_STATUSES);

/** Whether a delivery with this status has not ended. */
export const isOpenStatus = (status: string): boolean => open.has(status);
