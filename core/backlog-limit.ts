// How much may wait to be delivered, and who is refused when it is more.
//
// A destination may have as many deliveries waiting as there is room left for others. So one that takes nothing stops at half of
// the limit while the others go on, and however many of them there are, they leave room: n of them stop at limit / (n + 1)
// each. (A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998; the rule by
// which destinations share the places of a worker as well.)

/** What opens again does so at this part of what closed it, so that it does not open and close with every delivery. */
const REOPENS_AT = 0.9;

export interface Waiting {
  /** Deliveries that wait, of all destinations. */
  total: number;
  /** Those that have most, in any order; one that is missing has fewer than any of these. */
  destinations: { id: string; waiting: number }[];
}

export interface Admission {
  /** Nothing is accepted. */
  full: boolean;
  /** What goes to one of these is not accepted. */
  fullDestinations: ReadonlySet<string>;
  /** How many deliveries may be accepted before anything that is open could be full. */
  margin: number;
}

/** What holds before anything is known. */
export const ALL_OPEN: Admission = { full: false, fullDestinations: new Set(), margin: Number.POSITIVE_INFINITY };

/**
 * Who may still bring deliveries.
 * @param limit deliveries that may wait in all
 * @param before what was decided last
 */
export function admit(limit: number, { total, destinations }: Waiting, before: Admission): Admission {
  const room = limit - total;
  const full = total >= (before.full ? limit * REOPENS_AT : limit);
  const fullDestinations = new Set<string>();
  // Two deliveries closer with each one accepted: it waits, and the room is less by it.
  let margin = room;
  for (const { id, waiting } of destinations) {
    if (waiting >= (before.fullDestinations.has(id) ? room * REOPENS_AT : room)) fullDestinations.add(id);
    else margin = Math.min(margin, (room - waiting) / 2);
  }
  return { full, fullDestinations, margin: Math.max(0, margin) };
}
