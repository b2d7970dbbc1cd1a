// Bodies that no endpoint can use: broken, of another encoding, too large, or with one member of a wrong type.
import fc from 'fast-check';
import { ANYTHING } from './targets.ts';

/** A value as a JSON body. */
export const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');

// Wrong wherever a text, number, truth value, list or object is wanted, because of their type or because of what is in them.
const wrong: Record<string, fc.Arbitrary<unknown>> = {
  string: fc.oneof(
    fc.constantFrom<unknown>(0, -1, 1.5, true, {}, [], ['a'], { __proto__: null, a: 1 }),
    fc.constantFrom('a\u0000b', '\ud800', '\udfff tail', 'x'.repeat(300_000)),
  ),
  number: fc.constantFrom<unknown>('1', '', -1e9, 1e308, 1.0000001, 2 ** 53, true, {}, [1], 'NaN'),
  boolean: fc.constantFrom<unknown>('true', 0, 1, '', {}, [true]),
  array: fc.constantFrom<unknown>(
    'a',
    5,
    true,
    { length: 1, 0: 'a' },
    [null],
    [5],
    [[]],
    [['a']],
    Array(5000).fill('x'),
  ),
  object: fc.constantFrom<unknown>('a', 5, true, [], [[]], {
    a: 5,
    type: 5,
    token: [],
    maxRetries: 'x',
    statusCodes: 5,
  }),
};
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

export interface MalformedBody {
  what: string;
  body: Buffer;
  headers?: Record<string, string>;
}

/** One member of a right body is replaced by what it cannot be. */
export const wrongMember = (body: Record<string, unknown>): fc.Arbitrary<MalformedBody> => {
  const members = Object.keys(body).filter((member) => !ANYTHING.includes(member));
  // Of what may be anything only that it is not there is wrong.
  if (members.length === 0) return fc.constant({ what: 'without its members', body: text({}) });
  return fc.constantFrom(...members).chain((member) =>
    (wrong[kindOf(body[member])] ?? fc.constant({})).map((value) => ({
      what: `${member} of a wrong type`,
      body: text({ ...body, [member]: value }),
    })),
  );
};

export const broken: fc.Arbitrary<MalformedBody> = fc.oneof(
  fc
    .tuple(
      fc.string({ maxLength: 200 }),
      fc.constantFrom('{"a":', '[', '"', '{"a" 1}', "{'a':1}", '{"a":1,}', 'NaN', '{"a":01}', '\ufeff{'),
    )
    .map(([tail, start]) => ({ what: 'broken JSON', body: Buffer.from(`${start}${tail.replace(/[\]}"]/g, '')}`) })),
  fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => ({
    what: 'no UTF-8',
    body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xc0]), bytes, Buffer.from('"}')]),
  })),
  fc.constantFrom<unknown>([], 'text', 5, null, true, [[]]).map((value) => ({ what: 'no object', body: text(value) })),
  fc.constantFrom(100, 1000, 10_000, 100_000).map((levels) => ({
    what: `${levels} levels deep`,
    body: Buffer.from(`{"name":${deep(levels)},"conditions":${deep(levels)},"ids":${deep(levels)}}`),
  })),
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty').map((key) => ({
    what: `${key} as a member`,
    body: Buffer.from(`{"${key}":{"name":"x","admin":true},"name":{"${key}":1}}`),
  })),
  fc.constantFrom('gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'x-unknown', '*').map((encoding) => ({
    what: `encoding ${encoding}`,
    headers: { 'content-encoding': encoding },
    body: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
  })),
  fc
    .constantFrom(
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application',
      ';',
      '/',
    )
    .map((type) => ({ what: `type ${type}`, headers: { 'content-type': type }, body: Buffer.from('{"name":"x"}') })),
  fc.constantFrom('utf-16', 'latin1', 'utf-7').map((charset) => ({
    what: `charset ${charset}`,
    headers: { 'content-type': `application/json; charset=${charset}` },
    body: Buffer.from('{"name":"x"}', 'utf16le'),
  })),
  fc.json({ maxDepth: 4 }).map((body) => ({ what: 'any JSON', body: Buffer.from(`{"unknown":${body}}`) })),
);

export const large: fc.Arbitrary<MalformedBody> = fc.constantFrom(1024 * 1024 + 1, 2 * 1024 * 1024).map((size) => ({
  what: `${size} bytes`,
  body: Buffer.alloc(size, 0x20),
}));
