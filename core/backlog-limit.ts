// The limit of the backlog, and which webhooks are refused above it.
//
// A destination's backlog may not exceed the free capacity. So a single stuck destination stops at half of the limit while the
// others continue, and any number of them leaves capacity: n stuck ones stop at limit / (n + 1) each. (A. K. Choudhury, E. L.
// Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998; destinations share the places of a worker by
// the same rule.)

/** Hysteresis: reopens at this part of the closing limit, so that it does not open and close with every delivery. */
const REOPENS_AT = 0.9;

export interface Waiting {
  /** Deliveries that wait, of all destinations. */
  total: number;
  /** Destinations with the largest backlogs, in any order; a missing one has fewer than any of these. */
  destinations: { id: string; waiting: number }[];
}

export interface Admission {
  /** Nothing is accepted. */
  full: boolean;
  /** Webhooks to one of these are refused. */
  fullDestinations: ReadonlySet<string>;
  /** How many deliveries may be accepted before an open destination, or the whole, could be full. */
  margin: number;
}

/** The initial state. */
export const ALL_OPEN: Admission = { full: false, fullDestinations: new Set(), margin: Number.POSITIVE_INFINITY };

/**
 * Which destinations accept deliveries.
 * @param limit maximum backlog in deliveries
 * @param before the last decision
 */
export function admit(limit: number, { total, destinations }: Waiting, before: Admission): Admission {
  const room = limit - total;
  const full = total >= (before.full ? limit * REOPENS_AT : limit);
  const fullDestinations = new Set<string>();
  // Each accepted delivery closes the gap by two: the backlog grows by one, and the free capacity shrinks by one.
  let margin = room;
  for (const { id, waiting } of destinations) {
    if (waiting >= (before.fullDestinations.has(id) ? room * REOPENS_AT : room)) fullDestinations.add(id);
    else margin = Math.min(margin, (room - waiting) / 2);
  }
  return { full, fullDestinations, margin: Math.max(0, margin) };
}
