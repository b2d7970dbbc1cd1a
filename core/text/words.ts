/** `1 delivery`, `12 deliveries`; with a verb: `plural(count, 'delivery was', 'deliveries were')`. */
export function plural(count: number, one: string, many = pluralOf(one)): string {
  return `${count} ${count === 1 ? one : many}`;
}

export const pluralOf = (one: string): string =>
  /(?:[sx]|ch)$/.test(one) ? `${one}es` : `${one.replace(/([^aeiou])y$/, '$1ie')}s`;

// Longer than any known name; the time taken grows with the square of it.
const MAX_LENGTH = 64;

/** The most similar known name, or null when none is similar. Case, underscores and hyphens make no difference. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = normal(name);
  if (wanted === '' || wanted.length > MAX_LENGTH) return null;
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = distanceBetween(wanted, normal(candidate));
    if (distance < (best?.distance ?? Infinity)) best = { candidate, distance };
  }
  if (best && best.distance <= Math.max(1, Math.floor(wanted.length / 3))) return best.candidate;
  // `source` for `sourceId`, `size` for `pageSize`, `maxRetry` for `maxRetries`.
  const part = wanted.length < 6 ? wanted : wanted.slice(0, -2);
  return part.length < 3 ? null : (known.find((candidate) => normal(candidate).includes(part)) ?? null);
}

const normal = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** How many letters are added, left out, replaced, or exchanged with their neighbour (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}
