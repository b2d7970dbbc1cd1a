// Numbers in filters of JSONPath by their exact values: the library compares doubles, and takes an ExactNumber for an empty object.
import { jsonpath } from 'json-p3';
import { deepEqual } from '../filters/equality.ts';
import { compareNumbers, ExactNumber, isJsonNumber, jsonNumber } from '../text/exact-json.ts';

const { expressions, functions, JSONPathNodeList, Nothing } = jsonpath;
type Expression = InstanceType<typeof expressions.FilterExpression>;
type Comparison = InstanceType<typeof expressions.InfixExpression>;
type Context = Parameters<Comparison['evaluate']>[0];

/** Replaces what the comparisons of a filter do; not those of queries inside it. */
export function compareExactly(expression: Expression): void {
  for (const comparison of comparisonsOf(expression)) {
    const { operator } = comparison;
    const [left, right] = [readerOf(comparison.left), readerOf(comparison.right)];
    comparison.evaluate = (context) => compare(left(context), operator, right(context));
  }
}

function* comparisonsOf(expression: Expression): Generator<Comparison> {
  if (expression instanceof expressions.LogicalExpression) yield* comparisonsOf(expression.expression);
  else if (expression instanceof expressions.PrefixExpression) yield* comparisonsOf(expression.right);
  else if (expression instanceof expressions.InfixExpression) {
    if (!expression.logical) yield expression;
    yield* comparisonsOf(expression.left);
    yield* comparisonsOf(expression.right);
  } else if (expression instanceof expressions.FunctionExtension) {
    for (const argument of expression.args) yield* comparisonsOf(argument);
  }
}

/** Reads one side of a comparison, as InfixExpression does. */
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
  const sign = areNumbers ? compareNumbers(left, right) : deepEqual(left, right) ? 0 : Number.NaN;
  switch (operator) {
    case '==':
      return sign === 0;
    case '!=':
      return sign !== 0;
    case '<':
      return sign < 0;
    case '>':
      return sign > 0;
    case '<=':
      return sign <= 0;
    default:
      return sign >= 0;
  }
}

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

export const exactLength = new ExactLength();
