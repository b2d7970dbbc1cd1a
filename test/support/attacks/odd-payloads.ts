// What senders send, and readers of files stumble over.
import fc from 'fast-check';
import { anyJson } from '../requests/json-numbers.ts';

const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** By what is odd about it. */
export const oddPayloads: Readonly<Record<string, string | Buffer>> = {
  'a lone surrogate': String.raw`{"a":"\ud800"}`,
  'a lone low surrogate': String.raw`{"a":"x\uDC00y"}`,
  'a lone surrogate in a name': String.raw`{"\ud83d":1}`,
  'a surrogate pair, escaped': String.raw`{"a":"\ud83d\ude00"}`,
  'a number beyond a double': '{"a":1e400}',
  'a negative one': '{"a":-1e400}',
  'a number too small for a double': '{"a":1e-400}',
  'an integer of 30 digits': '{"a":123456789012345678901234567890}',
  'an integer of 64 bits and one more': '{"a":18446744073709551616}',
  'a fraction of 40 digits': '{"a":0.1234567890123456789012345678901234567890}',
  'a name twice': '{"a":1,"a":2}',
  'a name twice, in other case': '{"id":1,"ID":2}',
  'arrays 400 deep': nested('[', ']', 400),
  'objects 400 deep': nested('{"a":', '}', 400),
  'arrays 600 deep': nested('[', ']', 600),
  'an array': '[1,"a",{"b":null}]',
  'an array of arrays': '[[1],["a"],[]]',
  'a text': '"text"',
  'a number': '42',
  'a truth': 'true',
  null: 'null',
  'an empty object': '{}',
  'an empty name': '{"":1}',
  'a name of a prototype': '{"__proto__":{"a":1},"constructor":1}',
  'a name with a dot and a space': '{"a.b c":1,"a":{"b c":2}}',
  'a long name': `{"${'n'.repeat(5000)}":1}`,
  'a thousand names': JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`name_${n}`, n]))),
  'a number where others have text': '{"a":1}',
  'text where others have a number': '{"a":"x"}',
  'an array where others have text': '{"a":[1,"x"]}',
  'an object where others have text': '{"a":{"b":1}}',
  'NUL, escaped': String.raw`{"a":"x\u0000y"}`,
  'a text of control characters': String.raw`{"a":"\u0001\u001f\b\f\u007f\u0085\u2028"}`,
  'line breaks between tokens': '{\r\n  "a": 1,\n  "b": 2\r}\n',
  'a byte order mark': '\ufeff{"a":1}',
  'a large text': JSON.stringify({ a: 'x'.repeat(300_000) }),
  'a date': '"2026-11-21"',
  'a time': '"2026-11-21T15:45:10.123Z"',
  'what is no JSON': 'a=1&b=2',
  'half of JSON': '{"a":',
  'names of numbers that are none': '{"a":NaN,"b":Infinity}',
  'a date that is no JSON': '2026-11-21',
  'a text of line breaks': 'one\r\ntwo\n\nthree\r',
  'a text with NUL': 'x\u0000y',
  'a text with a quote and a backslash': '"\\',
  'letters of many scripts': '{"a":"äöü 注文 \u{1f600} \u0915\u094d\u0937 \u202e"}',
  'bytes that are no text': Buffer.from([0xff, 0x00, 0xfe, 0x80]),
  'a half of a surrogate pair in bytes': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  'compressed bytes': Buffer.from('1f8b0800000000000003ab56ca48cdc9c95748cb0700', 'hex'),
};

/** Others from a seed: JSON with any numbers, texts, bytes. */
export function generatedPayloads(count: number, seed: number): (string | Buffer)[] {
  const payload = fc.oneof(
    { weight: 3, arbitrary: anyJson },
    fc.json({ stringUnit: 'binary' }),
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.uint8Array({ minLength: 1, maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
  return fc.sample(payload, { numRuns: count, seed });
}
