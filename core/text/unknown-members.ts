// Which members of a value its zod schema does not know, at any depth.
import { z } from 'zod';

export interface UnknownMember {
  path: readonly (string | number)[];
  known: readonly string[];
  /** Whether the schema refuses it (a strict object) instead of dropping it. */
  isRefused: boolean;
}

/** The members that parsing drops or refuses. @param value as it was sent, valid or not */
export function unknownMembers(
  schema: z.core.$ZodType,
  value: unknown,
  path: UnknownMember['path'] = [],
): UnknownMember[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return ofObject(inner, value, path);
  if (inner instanceof z.ZodArray) {
    const elements: unknown[] = Array.isArray(value) ? value : [];
    return elements.flatMap((element, index) => unknownMembers(inner.element, element, [...path, index]));
  }
  if (inner instanceof z.ZodRecord)
    return Object.entries(value).flatMap(([name, member]) => unknownMembers(inner.valueType, member, [...path, name]));
  return inner instanceof z.ZodUnion ? ofUnion(inner.options, value, path) : [];
}

function ofObject({ shape, def }: z.ZodObject, value: object, path: UnknownMember['path']): UnknownMember[] {
  const known = Object.keys(shape);
  const isStrict = def.catchall instanceof z.ZodNever;
  const isLoose = def.catchall !== undefined && !isStrict;
  return Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const at = [...path, name];
    const own = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (own !== undefined) return unknownMembers(own, member, at);
    return isLoose || Array.isArray(value) ? [] : [{ path: at, known, isRefused: isStrict }];
  });
}

/** Of the option that accepts the value; if none does, of the most similar one. */
function ofUnion(options: readonly z.core.$ZodType[], value: object, path: UnknownMember['path']): UnknownMember[] {
  const accepting = options.filter((option) => z.core.safeParse(option, value).success);
  const found = (accepting.length > 0 ? accepting : options).map((option) => unknownMembers(option, value, path));
  return found.reduce((least, one) => (one.length < least.length ? one : least), found[0] ?? []);
}

/** The schema without what is put around it: optional, nullable, default, what comes after or before it. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.def.innerType);
  if (schema instanceof z.ZodPipe)
    return unwrapped(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  return schema;
}

// The names of what was sent, for the audit log: only such as the schema knows, because a name that it does not know
// may be anything, a secret in the wrong place too.

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
