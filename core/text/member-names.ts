// The names of what was sent, for the audit log: only such as the schema knows, because a name that it does not know
// may be anything, a secret in the wrong place too.
import { z } from 'zod';
import { unwrapped } from './unknown-members.ts';

/** How deep names go: `retryPolicy.maxRetries`. */
const DEPTH = 2;

/** The known names in a value, dotted, in the order of the value. */
export function memberNames(schema: z.core.$ZodType, value: unknown): string[] {
  return [...new Set(namesIn(schema, value, DEPTH))];
}

function namesIn(schema: z.core.$ZodType, value: unknown, depth: number): string[] {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => namesIn(option, value, depth));
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = Object.hasOwn(inner.shape, name) ? inner.shape[name] : undefined;
    if (own === undefined) return [];
    const nested = namesIn(own, member, depth - 1);
    return nested.length > 0 ? nested.map((inside) => `${name}.${inside}`) : [name];
  });
}
