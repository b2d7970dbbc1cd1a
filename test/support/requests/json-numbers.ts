// JSON texts with numbers of every kind, and the values of the numbers in a text.
import fc from 'fast-check';
import { decimalKey } from '../../../core/text/exact-json.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits(24).map((text) => text.replace(/^0+(?=.)/, '')),
    ),
    fc.oneof(
      fc.constant(''),
      digits(24).map((text) => `.${text}`),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(3)).map((parts) => parts.join('')),
    ),
  )
  .map((parts) => parts.join(''));
const text = fc
  .oneof(number, fc.string(), fc.constantFrom('__proto__', 'toJSON', 'a', '\\', '"9007199254740993"'))
  .map((value) => JSON.stringify(value));

/** JSON as text: members may come twice, numbers may be of any length, also in texts and names. */
export const anyJson: fc.Arbitrary<string> = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(number, text, fc.constantFrom('null', 'true')),
    fc.array(tie('json'), { maxLength: 5 }).map((elements) => `[${elements.join(', ')}]`),
    fc
      .array(fc.tuple(text, tie('json')), { maxLength: 5 })
      .map((members) => `{${members.map(([name, value]) => `${name} :${value}`).join(',')}}`),
  ),
})).json;

/**
 * The numbers of a JSON text by the path of each, as exact decimals; of members that come twice the last one counts.
 */
export function numbersIn(json: string): Map<string, string | null> {
  const found = new Map<string, string | null>();
  const walk = (value: unknown, path: string) => {
    if (value instanceof Source) found.set(path, decimalKey(value.text));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) walk(member, `${path}/${key}`);
    }
  };
  walk(JSON.parse(json, withSources), '');
  return found;
}

class Source {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

// By the engine's own source texts, which the code under test does not use.
const withSources = (_key: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' ? new Source(context?.source ?? '') : value;
