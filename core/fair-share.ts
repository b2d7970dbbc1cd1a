// How organizations share what there is only so much of: the backlog, the places of a worker, the connections of a pool.
//
// An organization may hold as much as is left free. So a single one stops at half while nobody else holds anything, and any number
// of them leaves room for the next: n greedy ones stop at 1 / (n + 1) each. What an organization may hold is shared by its
// destinations by the same rule. An organization that is alone has everything. (A. K. Choudhury, E. L. Hahne, "Dynamic queue
// length thresholds for shared-memory packet switches", 1998.)

/** Something that organizations share. */
export interface Shared {
  limit: number;
  /** What all organizations hold together. */
  taken: number;
  /** Whether there is only one organization, so that nothing is kept for others. */
  alone: boolean;
}

/**
 * How much more an organization may take, while the others take nothing; at most 0: nothing.
 * @param own what it holds
 */
export function leftFor({ limit, taken, alone }: Shared, own: number): number {
  // Each one that it takes closes the gap between what it holds and what is free by two.
  return alone ? limit - taken : (limit - taken - own) / 2;
}
