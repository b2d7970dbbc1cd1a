// How much of what may give way does, by how busy something is (machine-load.ts). Workflows use it, so it measures nothing itself.

/** Shares of the time: from `busy` on something gives way, from `full` on as much as it can. */
export interface Load {
  busy: number;
  full: number;
}

/** How far a share of the time is from the one to the other, 0 to 1. */
export const partOf = (use: number, { busy, full }: Load): number =>
  Math.min(1, Math.max(0, (use - busy) / (full - busy)));
