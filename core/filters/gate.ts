// What an event must pass to be delivered by a route: its schema, then its filter.
// Rules: FLT-01, FLT-15, SCH-01.
import { type Budget, BudgetError } from '../fairness/budget.ts';
import { ConditionError, type FilterCondition } from './conditions.ts';
import type { FilteredRequest } from './fields.ts';
import { type CompiledFilter, compileFilter, type FilterLogic } from './filter.ts';
import type { StoredSchema } from '../schemas/cached.ts';
import { describeErrors, type SchemaError } from '../schemas/errors.ts';

/**
 * A route accepts an event, its filter refuses it, or it cannot be delivered: its payload does not match the schema, or the filter
 * is more work than one webhook may make (`error` says what).
 */
export type Passage =
  | { kind: 'taken' }
  | { kind: 'filtered' }
  | { kind: 'schema_failed'; error: string }
  | { kind: 'filter_failed'; error: string };

export interface StoredFilter {
  readonly conditions: FilterCondition[];
  readonly logic: FilterLogic;
  /** Steps of a budget that reading the conditions takes; absent: they have been read. */
  readonly readSteps?: number;
}

export interface GateDefinition<
  Schema extends StoredSchema = StoredSchema,
  Filter extends StoredFilter = StoredFilter,
> {
  schema: Schema | null;
  filter: Filter | null;
}

export interface GatedRequest extends FilteredRequest {
  /** Size of the payload in bytes. */
  size: number;
}

/** Validates a payload; where it runs decides how it is kept within the budget. @throws BudgetError */
export type SchemaCheck<Schema extends StoredSchema = StoredSchema> = (
  schema: Schema,
  request: Pick<GatedRequest, 'payload' | 'size'>,
  budget: Budget,
) => SchemaError[];

const TAKEN: Passage = { kind: 'taken' };
const FILTERED: Passage = { kind: 'filtered' };

/** The gate of a route. Its filter is compiled at its first use, in the budget of that. */
export class Gate<Schema extends StoredSchema = StoredSchema, Filter extends StoredFilter = StoredFilter> {
  readonly definition: GateDefinition<Schema, Filter>;
  #filter: CompiledFilter | undefined;

  constructor(definition: GateDefinition<Schema, Filter>) {
    this.definition = definition;
  }

  /** @throws BudgetError */
  pass(request: GatedRequest, budget: Budget, check: SchemaCheck<Schema>): Passage {
    return this.#checked(request, budget, check) ?? this.#filtered(request, budget);
  }

  /** Like `pass`; when the budget does not suffice, the deliveries of the route end. */
  passOrFail(request: GatedRequest, budget: Budget, check: SchemaCheck<Schema>): Passage {
    let kind: 'schema_failed' | 'filter_failed' = 'schema_failed';
    try {
      const failed = this.#checked(request, budget, check);
      if (failed !== null) return failed;
      kind = 'filter_failed';
      return this.#filtered(request, budget);
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      const what = kind === 'schema_failed' ? 'The schema was not checked' : 'The filter was not applied';
      return { kind, error: `${what}: ${error.message}` };
    }
  }

  #checked(request: GatedRequest, budget: Budget, check: SchemaCheck<Schema>): Passage | null {
    const { schema } = this.definition;
    if (schema === null) return null;
    const errors = check(schema, request, budget);
    return errors.length === 0 ? null : { kind: 'schema_failed', error: describeErrors(schema, errors) };
  }

  #filtered(request: GatedRequest, budget: Budget): Passage {
    const { filter } = this.definition;
    if (filter === null) return TAKEN;
    this.#filter ??= compileStored(filter, budget);
    return this.#filter.takes(request, budget) ? TAKEN : FILTERED;
  }
}

// Failure policy: conditions are checked when they are stored; if one is still invalid, the route accepts nothing. Its events are
// stored, counted as filtered, and can be replayed.
function compileStored(filter: StoredFilter, budget: Budget): CompiledFilter {
  budget.spend(filter.readSteps ?? 0);
  const { conditions, logic } = filter;
  try {
    return compileFilter(conditions, logic, budget);
  } catch (error) {
    if (error instanceof ConditionError) return { takes: () => false, explain: () => conditions.map(() => false) };
    throw error;
  }
}
