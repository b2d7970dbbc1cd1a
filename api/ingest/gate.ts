// What an event must pass to be delivered by a route: its schema, then its filter.
// Rules: FLT-01, SCH-01.
import { ConditionError, type FilterCondition } from '../../core/filters/conditions.ts';
import type { FilteredRequest } from '../../core/filters/fields.ts';
import { type CompiledFilter, compileFilter, type FilterLogic } from '../../core/filters/filter.ts';
import { type StoredSchema, validatorOf } from '../../core/schemas/cached.ts';
import { describeErrors } from '../../core/schemas/errors.ts';

/** A route accepts an event, or its filter or schema refuses it (`error` says where). */
export type Passage = { kind: 'taken' } | { kind: 'filtered' } | { kind: 'schema_failed'; error: string };

export interface GatedRequest extends FilteredRequest {
  /** Size of the payload in bytes. */
  size: number;
}

export type RouteGate = (request: GatedRequest) => Passage;

const TAKEN: Passage = { kind: 'taken' };
const FILTERED: Passage = { kind: 'filtered' };

/** Compiles the schema and the filter of a route; null when it has neither, so that the check is free. */
export function compileGate(
  schema: StoredSchema | null,
  filter: { conditions: FilterCondition[]; logic: FilterLogic } | null,
): RouteGate | null {
  if (schema === null && filter === null) return null;
  const compiled = filter && compileStored(filter.conditions, filter.logic);
  const validator = schema && validatorOf(schema);
  return (request) => {
    if (schema !== null && validator !== null) {
      const errors = validator.validate(request.payload(), request.size);
      if (errors.length > 0) return { kind: 'schema_failed', error: describeErrors(schema, errors) };
    }
    return compiled === null || compiled.takes(request) ? TAKEN : FILTERED;
  };
}

// Failure policy: conditions are checked when they are stored; if one is still invalid, the route accepts nothing. Its events are
// stored, counted as filtered, and can be replayed.
function compileStored(conditions: FilterCondition[], logic: FilterLogic): CompiledFilter {
  try {
    return compileFilter(conditions, logic);
  } catch (error) {
    if (error instanceof ConditionError) return { takes: () => false, explain: () => conditions.map(() => false) };
    throw error;
  }
}
