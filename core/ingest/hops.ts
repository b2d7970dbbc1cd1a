// Counts the Hookyards that a webhook has been through, so that a loop of deliveries ends by itself.

/**
 * On every delivery, whatever `HOOKYARD_HEADER_PREFIX` says: a loop may lead through installations with different
 * prefixes.
 */
export const HOPS_HEADER = 'X-Hookyard-Hops';
/**
 * A webhook that has passed through this many Hookyard instances is refused. By then a route with two destinations that
 * loop has made 2^5 deliveries.
 */
export const MAX_HOPS = 5;

const LOWER_NAME = HOPS_HEADER.toLowerCase();

/** At most `MAX_HOPS`. @param received names in lower case */
export function hopsOf(received: Readonly<Record<string, string>>): number {
  const value = received[LOWER_NAME];
  if (value === undefined) return 0;
  // A proxy may have joined several of them. What is no number was not written by a Hookyard.
  const counts = value.split(',').map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : 0));
  return Math.min(MAX_HOPS, Math.max(...counts));
}
