// Filters: which webhooks a route accepts. Conditions are compiled once and evaluated for every event.
import { type Budget, BudgetError, NO_LIMIT } from '../fairness/budget.ts';
import { lookup, parsePath, type PathStep } from '../text/dotted-path.ts';
import { isJsonNumber, type JsonNumber } from '../text/exact-json.ts';
import { compilePattern, PatternError, patternSteps } from '../text/linear-regex.ts';
import { contains, equalsAny, inOrder, onText, type ValueTest } from './comparison.ts';

export const FILTER_LOGICS = ['AND', 'OR'] as const;
export type FilterLogic = (typeof FILTER_LOGICS)[number];

export const MAX_CONDITIONS = 50;
export const MAX_PATTERNS = 10;

export interface CompiledFilter {
  /** Whether the route accepts this webhook. A filter without conditions accepts all. @throws BudgetError */
  takes(request: FilteredRequest, budget?: Budget): boolean;
  /** Whether each condition is met, in their order. @throws BudgetError */
  explain(request: FilteredRequest, budget?: Budget): boolean[];
}

export interface FilterProblem {
  index: number;
  error: ConditionError;
}

export function filterProblems(conditions: readonly FilterCondition[]): FilterProblem[] {
  return conditions.flatMap((condition, index) => {
    try {
      compileCondition(condition);
      return [];
    } catch (error) {
      if (error instanceof ConditionError) return [{ index, error }];
      throw error;
    }
  });
}

export function hasTooManyPatterns(conditions: readonly FilterCondition[]): boolean {
  return conditions.filter(({ operator }) => isPatternOperator(operator)).length > MAX_PATTERNS;
}

/**
 * Compiles conditions that were checked when they were stored.
 * @throws ConditionError for one that cannot be used all the same, BudgetError
 */
export function compileFilter(
  conditions: readonly FilterCondition[],
  logic: FilterLogic,
  budgetToCompile: Budget = NO_LIMIT,
): CompiledFilter {
  const compiled = conditions.map((condition) => compileCondition(condition, budgetToCompile));
  const isMet = ({ read, test }: CompiledCondition, request: FilteredRequest, budget: Budget) =>
    test(read(request, budget), budget);
  return {
    takes(request, budget = NO_LIMIT) {
      if (compiled.length === 0) return true;
      if (logic === 'OR') return compiled.some((condition) => isMet(condition, request, budget));
      return compiled.every((condition) => isMet(condition, request, budget));
    },
    explain: (request, budget = NO_LIMIT) => compiled.map((condition) => isMet(condition, request, budget)),
  };
}

export interface FilterCondition {
  field: string;
  operator: string;
  value?: unknown;
}

/** Which member of a condition is wrong, and what it must be. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  readonly member: keyof FilterCondition;
  constructor(member: keyof FilterCondition, message: string) {
    super(message);
    this.member = member;
  }
}

type ValuesTest = (values: readonly unknown[], budget: Budget) => boolean;

interface CompiledCondition {
  read: FieldReader;
  test: ValuesTest;
}

const MAX_LIST = 1000;
/** Longest text of any other value, in characters. */
const MAX_TEXT = 10_000;

// Where a field leads to several values (`[*]`, a repeated query parameter), any one of them suffices.
const any =
  (test: ValueTest): ValuesTest =>
  (values, budget) =>
    values.some((value) => test(value, budget));
// What is not there equals nothing and contains nothing.
const anyNot =
  (test: ValueTest): ValuesTest =>
  (values, budget) =>
    values.length === 0 || values.some((value) => !test(value, budget));

const OPERATORS: Record<string, (value: unknown, budget: Budget) => ValuesTest> = {
  equals: (value) => any(equalsAny([required(value)])),
  not_equals: (value) => anyNot(equalsAny([required(value)])),
  contains: (value) => any(contains(required(value))),
  not_contains: (value) => anyNot(contains(required(value))),
  starts_with: (value) => any(textTest(value, (actual, start) => actual.startsWith(start))),
  ends_with: (value) => any(textTest(value, (actual, end) => actual.endsWith(end))),
  matches: (value, budget) => any(matches(text(value), budget)),
  exists: () => (values) => values.length > 0,
  not_exists: () => (values) => values.length === 0,
  gt: (value) => any(inOrder(ordered(value), (sign) => sign > 0)),
  gte: (value) => any(inOrder(ordered(value), (sign) => sign >= 0)),
  lt: (value) => any(inOrder(ordered(value), (sign) => sign < 0)),
  lte: (value) => any(inOrder(ordered(value), (sign) => sign <= 0)),
  in: (value) => any(equalsAny(list(value))),
  not_in: (value) => anyNot(equalsAny(list(value))),
};

const SYNONYMS: Record<string, string> = { regex: 'matches', greater_than: 'gt', less_than: 'lt' };

export const OPERATOR_NAMES: readonly string[] = [...Object.keys(OPERATORS), ...Object.keys(SYNONYMS)];

const isPatternOperator = (operator: string): boolean => operator === 'matches' || operator === 'regex';

// What it takes to make a condition, and an element of its list, ready.
const CONDITION_STEPS = 100;
const ELEMENT_STEPS = 20;

function compileCondition({ field, operator, value }: FilterCondition, budget: Budget = NO_LIMIT): CompiledCondition {
  budget.spend(CONDITION_STEPS + field.length + (Array.isArray(value) ? value.length * ELEMENT_STEPS : 0));
  if (!OPERATOR_NAMES.includes(operator))
    throw new ConditionError('operator', `must be one of ${OPERATOR_NAMES.join(', ')}`);
  const read = fieldReader(field);
  if (read === null)
    throw new ConditionError('field', 'must be a dotted path such as payload.items[0].sku or headers.x-kind');
  const compile = OPERATORS[SYNONYMS[operator] ?? operator];
  if (compile === undefined) throw new Error(`the operator ${operator} is unknown`);
  return { read, test: compile(value, budget) };
}

function required(value: unknown): unknown {
  if (value === undefined) throw new ConditionError('value', 'is required with this operator');
  const length = typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
  if (length > MAX_TEXT) throw new ConditionError('value', `must be at most ${MAX_TEXT} characters long`);
  return value;
}

function text(value: unknown): string {
  if (typeof required(value) !== 'string') throw new ConditionError('value', 'must be a string with this operator');
  return String(value);
}

function ordered(value: unknown): string | JsonNumber {
  required(value);
  if (typeof value === 'string' || isJsonNumber(value)) return value;
  throw new ConditionError('value', 'must be a number or a string with this operator');
}

function list(value: unknown): unknown[] {
  if (value === undefined) throw new ConditionError('value', 'is required with this operator');
  const elements = typeof value === 'string' ? value.split(',').map((element) => element.trim()) : value;
  if (!Array.isArray(elements))
    throw new ConditionError('value', 'must be an array or a comma-separated string with this operator');
  if (elements.length > MAX_LIST) throw new ConditionError('value', `must contain at most ${MAX_LIST} items`);
  for (const element of elements) required(element);
  return elements;
}

function textTest(value: unknown, test: (actual: string, wanted: string) => boolean): ValueTest {
  const wanted = text(value);
  return onText((actual) => test(actual, wanted));
}

function matches(pattern: string, budget: Budget): ValueTest {
  budget.spend(patternSteps(pattern));
  try {
    const compiled = compilePattern(pattern);
    return onText((actual) => compiled.test(actual), compiled.stepsPerCharacter);
  } catch (error) {
    throw error instanceof PatternError ? new ConditionError('value', error.message) : error;
  }
}

const MAX_VALUES = 100_000;

/** A webhook as a filter sees it. What is a function is read only when a condition asks for it. */
export interface FilteredRequest {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Below the address of the source, as received; empty without one. */
  path: string;
  query(): URLSearchParams;
  /** The parsed JSON, else the text, else base64 (core/text/payload.ts). */
  payload(): unknown;
}

/** Reads every value that a field leads to; none when it leads nowhere. @throws BudgetError */
export type FieldReader = (request: FilteredRequest, budget: Budget) => readonly unknown[];

/** @returns null when the text is no path */
export function fieldReader(field: string): FieldReader | null {
  const steps = parsePath(field);
  if (steps === null) return null;
  const [first, ...rest] = steps;
  const root = first !== undefined && 'key' in first ? first.key : null;
  const name = nameOf(rest);
  if (root === 'headers' && name !== null) {
    const lower = name.toLowerCase();
    return ({ headers }) => (Object.hasOwn(headers, lower) ? [headers[lower]] : []);
  }
  if (root === 'query' && name !== null) return (request) => request.query().getAll(name);
  if (root === 'method' && rest.length === 0) return (request) => [request.method];
  if (root === 'request' && name === 'path') return ({ path }) => (path === '' ? [] : [path]);
  const inPayload = root === 'payload' || root === 'body' ? rest : steps;
  return (request, budget) => {
    const values = lookup(request.payload(), inPayload, budget, MAX_VALUES);
    if (values.length > MAX_VALUES) throw new BudgetError(`${field} matches more than ${MAX_VALUES} values`);
    return values;
  };
}

/** `headers` and `query` hold no deeper levels, so a name may have dots itself. Null when there is no name. */
function nameOf(steps: PathStep[]): string | null {
  const keys = steps.flatMap((step) => ('key' in step ? [step.key] : []));
  return keys.length > 0 && keys.length === steps.length ? keys.join('.') : null;
}
