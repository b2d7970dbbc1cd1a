// Paths into a JSON value as filters and idempotency keys write them: `order.items.0.sku`, `items[0].sku`,
// `items[*].sku` (any element), `$.order.id`, `['a.b']` for a name with a dot.
import { type Budget, NO_LIMIT } from '../fairness/budget.ts';

export type PathStep = { key: string } | { every: true };

const MAX_PATH_LENGTH = 1024;

// A dot and a name, or brackets around an index, a star or a quoted name.
const STEP = /\.([^.[\]]+)|\[(?:(\d+)|(\*)|'([^']*)'|"([^"]*)")\]/y;

/**
 * Reads a path; a leading `$` (the root) is optional.
 * @returns its steps, none for the root itself, or null when the text is not a path
 */
export function parsePath(path: string): PathStep[] | null {
  if (path === '' || path.length > MAX_PATH_LENGTH) return null;
  const rest = withLeadingDot(path);
  const steps: PathStep[] = [];
  STEP.lastIndex = 0;
  for (let end = 0; end < rest.length; end = STEP.lastIndex) {
    const match = STEP.exec(rest);
    if (match === null) return null;
    const key = match[1] ?? match[2] ?? match[4] ?? match[5];
    steps.push(key === undefined ? { every: true } : { key });
  }
  return steps;
}

/** The path without its root sign, every name with the dot before it. */
function withLeadingDot(path: string): string {
  if (/^\$(?:$|[.[])/.test(path)) return path.slice(1);
  return path.startsWith('[') ? path : `.${path}`;
}

/**
 * The values at a path, in order; an empty list when there is none. A member that is null is a match.
 * @param most how many are wanted: one more is returned when there are more
 * @throws BudgetError
 */
export function lookup(
  value: unknown,
  steps: readonly PathStep[],
  budget: Budget = NO_LIMIT,
  most = Number.POSITIVE_INFINITY,
): unknown[] {
  let matches: unknown[] = [value];
  for (const [index, step] of steps.entries()) {
    const next: unknown[] = [];
    // Of a step before the last any number may be needed: the next one may lead nowhere from most of them.
    const limit = index === steps.length - 1 ? most + 1 : Number.POSITIVE_INFINITY;
    budget.spend(1 + matches.length);
    for (const match of matches) {
      if ('every' in step) {
        if (!Array.isArray(match)) continue;
        const count = Math.min(match.length, limit - next.length);
        budget.spend(count);
        for (let at = 0; at < count; at += 1) next.push(match[at]);
      } else if (hasMember(match, step.key)) {
        next.push(match[step.key]);
      }
      if (next.length >= limit) break;
    }
    if (next.length === 0) return next;
    matches = next;
  }
  return matches;
}

// Own members only: a path never reaches prototypes or an array's length.
function hasMember(value: unknown, key: string): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
  return !Array.isArray(value) || key !== 'length';
}

export function lookupPath(value: unknown, path: string, budget: Budget = NO_LIMIT): unknown[] {
  const steps = parsePath(path);
  return steps === null ? [] : lookup(value, steps, budget);
}
