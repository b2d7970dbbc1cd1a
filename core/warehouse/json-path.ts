// JSONPath (RFC 9535) for field mappings, within bounds: an expression of a user runs on every event. What could walk a
// payload more than a few times is refused when it is written, and match() and search() take linear time.
import { FunctionExpressionType, jsonpath, JSONPathEnvironment, JSONPathError, type JSONPathQuery } from 'json-p3';
import { LRUCache } from 'lru-cache';
import { canonicalText, compareNumbers, ExactNumber, isJsonNumber, jsonNumber } from '../text/exact-json.ts';
import { compilePattern, type LinearPattern, PatternError } from '../text/linear-regex.ts';

const { expressions, functions, JSONPathNodeList, Nothing, selectors } = jsonpath;
type Expression = InstanceType<typeof expressions.FilterExpression>;
type Selector = InstanceType<typeof selectors.JSONPathSelector>;

const MAX_PATH_LENGTH = 512;

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

export interface JsonPath {
  /** Whether it can find one value at most (RFC 9535, section 2.3.5.1). */
  readonly singular: boolean;
  /**
   * The values it finds, in the order of the document.
   * @throws JsonPathError when the value is nested too deeply for `..`
   */
  find(value: unknown): unknown[];
}

/**
 * @param members the members the root has; an expression that starts with another one could never find anything
 * @throws JsonPathError
 */
export function compileJsonPath(text: string, members: readonly string[]): JsonPath {
  if (text.length > MAX_PATH_LENGTH) throw new JsonPathError(`must be at most ${MAX_PATH_LENGTH} characters long`);
  const query = parse(text);
  checkRoot(query, members);
  checkCostAndMakeExact(query);
  return { singular: query.singularQuery(), find: (value) => find(query, value) };
}

function find(query: JSONPathQuery, value: unknown): unknown[] {
  try {
    return query.query(value as Parameters<JSONPathQuery['query']>[0]).values();
  } catch (error) {
    if (error instanceof JSONPathError || error instanceof RangeError)
      throw new JsonPathError('the value is nested too deeply');
    throw error;
  }
}

function parse(text: string): JSONPathQuery {
  try {
    return environment.compile(text);
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    throw new JsonPathError(`must be a JSONPath expression (RFC 9535) such as $.payload.order.id (${error.message})`);
  }
}

/** A query that begins with a name, like nearly all, has to begin with one that is there. */
function checkRoot(query: JSONPathQuery, members: readonly string[]): void {
  const first = query.segments[0];
  if (!(first instanceof jsonpath.JSONPathSegment) || isDescendant(first)) return;
  for (const selector of first.selectors) {
    if (selector instanceof selectors.NameSelector && !members.includes(selector.name))
      throw new JsonPathError(
        `must start with one of ${members.map((name) => `$.${name}`).join(', ')}; an event has no "${selector.name}"`,
      );
  }
}

const isDescendant = (segment: { toString(): string }): boolean => segment.toString().startsWith('..');

/** Refuses what costs more than (size x depth) of the payload, and lets comparisons see exact numbers. */
function checkCostAndMakeExact(query: JSONPathQuery): void {
  const descents = { count: 0 };
  for (const found of everySegment(query, false)) {
    if (isDescendant(found.segment)) descents.count++;
    if (descents.count > 1) throw new JsonPathError('must not use ".." more than once');
    checkSelectors(found.segment.selectors);
    if (found.inRootQuery && !isSingularSegment(found.segment))
      throw new JsonPathError('must use "$" in a filter only for single values, such as $.payload.limit');
  }
}

/** `[*,*][*,*]` would double with every segment. */
function checkSelectors(all: readonly Selector[]): void {
  if (all.length < 2) return;
  const single = all.every((one) => one instanceof selectors.NameSelector || one instanceof selectors.IndexSelector);
  if (!single || new Set(all.map(String)).size < all.length)
    throw new JsonPathError('must combine only different names and indexes within brackets');
}

type Segment = JSONPathQuery['segments'][number];
type Found = { segment: Segment; inRootQuery: boolean };

function isSingularSegment(segment: Segment): boolean {
  const [only, ...others] = segment.selectors;
  if (isDescendant(segment) || others.length > 0) return false;
  return only instanceof selectors.NameSelector || only instanceof selectors.IndexSelector;
}

function* everySegment(query: JSONPathQuery, inRootQuery: boolean): Generator<Found> {
  for (const segment of query.segments) {
    yield { segment, inRootQuery };
    for (const selector of segment.selectors) {
      if (selector instanceof selectors.FilterSelector) yield* segmentsOf(selector.expression);
    }
  }
}

function* segmentsOf(expression: Expression): Generator<Found> {
  if (expression instanceof expressions.LogicalExpression) yield* segmentsOf(expression.expression);
  else if (expression instanceof expressions.PrefixExpression) yield* segmentsOf(expression.right);
  else if (expression instanceof expressions.InfixExpression) {
    if (!expression.logical) compareExactly(expression);
    yield* segmentsOf(expression.left);
    yield* segmentsOf(expression.right);
  } else if (expression instanceof expressions.FilterQuery) {
    yield* everySegment(expression.path, expression instanceof expressions.RootQuery);
  } else if (expression instanceof expressions.FunctionExtension) {
    checkPattern(expression);
    for (const argument of expression.args) yield* segmentsOf(argument);
  }
}

/** A pattern that comes out of the payload could not be checked before it runs. */
function checkPattern(call: InstanceType<typeof expressions.FunctionExtension>): void {
  if (call.name !== 'match' && call.name !== 'search') return;
  const pattern = call.args[1];
  if (!(pattern instanceof expressions.StringLiteral))
    throw new JsonPathError(`must use a string literal as the pattern in ${call.name}()`);
  try {
    compilePattern(pattern.value);
  } catch (error) {
    if (error instanceof PatternError)
      throw new JsonPathError(`has a pattern in ${call.name}() that cannot be used; it ${error.message}`);
    throw error;
  }
}

/** match() and search() of RFC 9535 (sections 2.4.6 and 2.4.7) in linear time; their patterns were checked above. */
function regexFunction(whole: boolean) {
  // Patterns are literals of stored mappings; a bound for a process that sees many of them.
  const compiled = new LRUCache<string, LinearPattern>({ max: 1000 });
  return {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call(value: unknown, pattern: unknown): boolean {
      if (typeof value !== 'string' || typeof pattern !== 'string') return false;
      let found = compiled.get(pattern);
      if (found === undefined) {
        found = compilePattern(whole ? `^(?:${pattern})$` : pattern);
        compiled.set(pattern, found);
      }
      return found.test(value);
    },
  };
}

// Numbers in filters of JSONPath by their exact values: the library compares doubles, and takes an ExactNumber for an
// empty object.
type Comparison = InstanceType<typeof expressions.InfixExpression>;
type Context = Parameters<Comparison['evaluate']>[0];

function compareExactly(comparison: Comparison): void {
  const { operator } = comparison;
  const [left, right] = [readerOf(comparison.left), readerOf(comparison.right)];
  comparison.evaluate = (context) => compare(left(context), operator, right(context));
}

function readerOf(side: Expression): (context: Context) => unknown {
  if (side instanceof expressions.NumberLiteral) {
    const number = jsonNumber(side.token.value);
    return () => number;
  }
  return (context) => {
    const found = side.evaluate(context);
    return found instanceof JSONPathNodeList && found.length === 1 ? found.values()[0] : found;
  };
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  const areNumbers = isJsonNumber(left) && isJsonNumber(right);
  if (!areNumbers && !areValues(left, right)) return expressions.compare(left, operator, right);
  const sign = areNumbers ? compareNumbers(left, right) : canonicalText(left) === canonicalText(right) ? 0 : Number.NaN;
  return HOLDS[operator]?.(sign) ?? false;
}

const HOLDS: Readonly<Record<string, (sign: number) => boolean>> = {
  '==': (sign) => sign === 0,
  '!=': (sign) => sign !== 0,
  '<': (sign) => sign < 0,
  '>': (sign) => sign > 0,
  '<=': (sign) => sign <= 0,
  '>=': (sign) => sign >= 0,
};

/** Whether both are JSON values, and one at least can hold numbers. */
function areValues(left: unknown, right: unknown): boolean {
  const isValue = (side: unknown) => side !== Nothing && !(side instanceof JSONPathNodeList);
  const isObject = (side: unknown) => typeof side === 'object' && side !== null;
  return isValue(left) && isValue(right) && (isObject(left) || isObject(right));
}

/** length() of RFC 9535 (section 2.4.4): a number has none. */
class ExactLength extends functions.Length {
  override call(value: unknown): ReturnType<InstanceType<typeof functions.Length>['call']> {
    return super.call(value instanceof ExactNumber ? 0 : value);
  }
}

const environment = new JSONPathEnvironment();
environment.functionRegister.set('match', regexFunction(true));
environment.functionRegister.set('search', regexFunction(false));
environment.functionRegister.set('length', new ExactLength());
