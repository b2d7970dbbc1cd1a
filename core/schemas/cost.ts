// How much a JSON Schema may ask for: an upper bound of the keywords that are evaluated for one value of the payload.

// A regular expression, and a comparison of every element with every other one, count as many plain keywords.
const KEYWORD_COST: Record<string, number> = { format: 20, uniqueItems: 1000 };
// The program of a pattern has about one instruction a character; a repetition or a class of letters multiplies them, up to the limit
// of linear-regex.ts.
const LARGEST_PATTERN = 4000;
const GROWS = /\{|\\[pP]/;
const patternCost = (pattern: string): number =>
  GROWS.test(pattern) ? LARGEST_PATTERN : Math.min(LARGEST_PATTERN, Math.max(100, 2 * pattern.length));

/**
 * The bound, with every reference replaced by what it leads to.
 * @returns Infinity where there is none: a recursive schema, or references that are no plain pointers
 */
export function evaluationCost(schema: unknown): number {
  const known = new Map<object, number>();

  function costOf(node: unknown): number {
    if (typeof node !== 'object' || node === null) return 1;
    const before = known.get(node);
    if (before !== undefined) return before;
    // Met again while its own cost is being added up: it is part of itself.
    known.set(node, Infinity);
    let cost = 1;
    for (const [key, child] of Object.entries(node)) cost += costOfMember(key, child);
    known.set(node, cost);
    return cost;
  }

  function costOfMember(key: string, child: unknown): number {
    const isReference = typeof child === 'string' && (key === '$dynamicRef' || key === '$recursiveRef');
    const hasOwnBase = typeof child === 'string' && key === '$id' && child !== idOf(schema);
    if (isReference || hasOwnBase) return Infinity;
    if (key === '$ref' && typeof child === 'string') return costOf(resolve(schema, child) ?? UNKNOWN);
    if (key === 'pattern' && typeof child === 'string') return patternCost(child);
    if (key === 'patternProperties') {
      return Object.keys(Object(child)).reduce((sum, pattern) => sum + patternCost(pattern), 100) + costOf(child);
    }
    return (KEYWORD_COST[key] ?? 1) + costOf(child);
  }

  known.set(UNKNOWN, Infinity);
  try {
    return costOf(schema);
  } catch (error) {
    // A chain of references that overflows the stack.
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}

const UNKNOWN = {};

function idOf(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null && '$id' in schema ? schema.$id : undefined;
}

/** What a JSON pointer in a URI fragment (RFC 6901, section 6) leads to; null when it is anything else. */
function resolve(schema: unknown, reference: string): object | null {
  if (reference === '#') return typeof schema === 'object' ? schema : null;
  if (!reference.startsWith('#/')) return null;
  let node = schema;
  for (const part of reference.slice(2).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return null;
    node = (node as Record<string, unknown>)[key];
  }
  return typeof node === 'object' ? node : null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
