// What an event must pass to be delivered by a route: its schema, then its filter. And the idempotency key in its
// payload, which is parsed once for all three.
import { type Budget, BudgetError } from '../fairness/budget.ts';
import { type OrderKey, orderKeyOf } from '../delivery/ordering.ts';
import { describeErrors, type SchemaError, type StoredSchema } from '../schemas/schema.ts';
import { lookupPath } from '../text/dotted-path.ts';
import {
  type CompiledFilter,
  compileFilter,
  ConditionError,
  type FieldReader,
  fieldReader,
  type FilterCondition,
  type FilteredRequest,
  type FilterLogic,
} from './filter.ts';

/**
 * A route accepts an event, its filter refuses it, or it cannot be delivered: its payload does not match the schema, or
 * the filter is more work than one webhook may make (`error` says what).
 */
export type Passage =
  | {
      kind: 'taken';
      /** Of a route with an ordering key; null: the event has none. */
      order?: OrderKey | null;
    }
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
  /** The field of the ordering key; null or none: none is to be read. */
  orderKey?: string | null;
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
  readonly #orderKey: FieldReader | null;
  #filter: CompiledFilter | undefined;

  constructor(definition: GateDefinition<Schema, Filter>) {
    this.definition = definition;
    this.#orderKey = definition.orderKey == null ? null : fieldReader(definition.orderKey);
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
      return { kind, error: `${notDone(kind, this.definition)}: ${error.message}` };
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
    if (filter !== null) {
      this.#filter ??= compileStored(filter, budget);
      if (!this.#filter.takes(request, budget)) return FILTERED;
    }
    if (this.#orderKey === null) return TAKEN;
    return { kind: 'taken', order: orderKeyOf(this.#orderKey(request, budget)) };
  }
}

/** What was not done for a webhook that takes too much time or memory. */
export function notDone(kind: 'schema_failed' | 'filter_failed', { filter }: Pick<GateDefinition, 'filter'>): string {
  if (kind === 'schema_failed') return 'The payload was not checked against the schema';
  return filter === null ? 'The ordering key was not read' : 'The filter was not applied';
}

// Failure policy: conditions are checked when they are stored; if one is still invalid, the route accepts nothing. Its
// events are stored, counted as filtered, and can be replayed.
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

// The idempotency key that a webhook carries in its payload.

/**
 * The text of the first value at a path; undefined when there is none. Different values have different texts.
 * @throws BudgetError
 */
export function keyInPayload(payload: unknown, path: string, budget: Budget): string | undefined {
  return keyText(lookupPath(payload, path, budget)[0]);
}

const LIKE_JSON = /^(?:["[{]|true$|false$|-?\d[\d.eE+-]*$)/;

/**
 * Different values map to different strings. An ordinary string maps to itself. A string that could be confused with
 * another value's JSON (`"1"` and `1`), or that UTF-8 cannot hold, maps to its JSON.
 */
function keyText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return JSON.stringify(value);
  return LIKE_JSON.test(value) || !value.isWellFormed() ? JSON.stringify(value) : value;
}
