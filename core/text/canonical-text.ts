// One text for all equal JSON values, to compare or hash them.
import { type Budget, NO_LIMIT } from '../fairness/budget.ts';
import { decimalKey, ExactNumber, isJsonNumber, type JsonNumber } from './exact-json.ts';

export function stepsOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 32;
  return value instanceof ExactNumber ? 1 + String(value).length : 1;
}

export function keyOf(number: JsonNumber): number | string | null {
  if (typeof number !== 'number') return number.key;
  // Such a double may be written as an ExactNumber too.
  return Math.abs(number) < 1e21 ? number : decimalKey(String(number));
}

// The shortest member of an object, with its comma.
const MEMBER_LENGTH = 5;

/**
 * One text for all equal JSON values: numbers by their exact values, objects by their members, whatever the order of
 * names.
 * @param most its longest length; it bounds the work and the depth of the recursion too
 * @returns null for a value whose text would be longer
 * @throws BudgetError
 */
export function canonicalText(
  value: unknown,
  most = Number.POSITIVE_INFINITY,
  budget: Budget = NO_LIMIT,
): string | null {
  budget.spend(stepsOf(value));
  if (isJsonNumber(value)) return shortOf(String(keyOf(value)), most);
  if (typeof value === 'string') return value.length > most ? null : shortOf(JSON.stringify(value), most);
  if (typeof value !== 'object' || value === null) return shortOf(String(value), most);
  if (most < '{}'.length) return null;
  const isArray = Array.isArray(value);
  const names = isArray ? null : Object.keys(value);
  budget.spend(names?.length ?? 0);
  if ((names?.length ?? 0) * MEMBER_LENGTH > most) return null;
  const members = isArray ? (value as unknown[]) : (names ?? []).sort();
  let text = isArray ? '[' : '{';
  for (const each of members) {
    const name = isArray ? '' : `${JSON.stringify(each)}:`;
    const member = isArray ? each : (value as Record<string, unknown>)[String(each)];
    const inside = canonicalText(member, most - text.length - name.length - 1, budget);
    if (inside === null) return null;
    text += `${name}${inside},`;
  }
  return shortOf(text + (isArray ? ']' : '}'), most);
}

const shortOf = (text: string, most: number): string | null => (text.length > most ? null : text);
