// What a stranger can send, as generators of fast-check: bodies of every shape up to the largest size, addresses,
// headers, and bytes that are no HTTP at all. Large ones are descriptions that are written out when they are sent.
import fc from 'fast-check';

const MEBIBYTE = 1024 * 1024;
const MAX_BODY_BYTES = 10 * MEBIBYTE;
const DEEPEST = 200_000;

/** Mostly small, sometimes as large as a body may be. */
const size = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 2000, max: 300_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: MEBIBYTE, max: MAX_BODY_BYTES - 1000 }) },
);

const ELEMENTS = [
  ...['0', '-0', '1e999', '9007199254740993', '0.1', '123456789012345678901234567890', '5e-324'],
  ...['""', '"a"', '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', '"\\u0000"', '"\\ud800"', '"5"', '"true"', '"2026-01-01"'],
  ...['{}', '[]', 'null', 'true', '{"sku":"a"}', '{"sku":{"sku":[1]}}', '[[1,2],[3]]', '{"__proto__":1,"length":2}'],
];
const CHARACTERS = ['a', 'ab', ' ', '\\"', '\\u0000', '\\ud83d\\ude00', 'é', '𐍈', '9'];
const NUMBERS = ['1', '1.', '1e', '-', '0', '1e9'];

const repeated = (unit: string, bytes: number, separator = ''): string => {
  const one = unit + separator;
  const text = one.repeat(Math.max(1, Math.floor(bytes / Math.max(1, Buffer.byteLength(one)))));
  return separator === '' ? text : text.slice(0, -separator.length);
};

const members = (unit: string, bytes: number): string => {
  const count = Math.max(1, Math.floor(bytes / (unit.length + 12)));
  return Array.from({ length: count }, (_, index) => `"k${index}":${unit}`).join(',');
};

/** JSON, or nearly. */
const json: fc.Arbitrary<() => string> = fc.oneof(
  fc.tuple(fc.constantFrom(...ELEMENTS), size).map(
    ([unit, bytes]) =>
      () =>
        `[${repeated(unit, bytes, ',')}]`,
  ),
  fc.tuple(fc.constantFrom(...ELEMENTS), size).map(
    ([unit, bytes]) =>
      () =>
        `{${members(unit, bytes)}}`,
  ),
  fc.tuple(fc.constantFrom(...CHARACTERS), size).map(
    ([unit, bytes]) =>
      () =>
        `"${repeated(unit, bytes)}"`,
  ),
  fc.tuple(fc.constantFrom(...NUMBERS), fc.constantFrom('', '1', 'e'), size).map(
    ([start, end, bytes]) =>
      () =>
        `${start}${repeated('7', bytes)}${end}`,
  ),
  fc
    .tuple(
      fc.constantFrom(['[', ']'] as const, ['{"a":', '}'] as const, ['[{"sku":', '}]'] as const),
      fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(DEEPEST)),
      fc.boolean(),
    )
    .map(
      ([[open, close], depth, isClosed]) =>
        () =>
          `${open.repeat(depth)}1${isClosed ? close.repeat(depth) : ''}`,
    ),
  fc.json({ maxDepth: 8 }).map((text) => () => text),
);

/** Where in a webhook it stands: paths of filters and mappings lead there. */
const framed = fc.tuple(json, fc.constantFrom('', 'items', 'a', 'order')).map(
  ([make, name]) =>
    () =>
      name === '' ? make() : `{"${name}":${make()},"id":1}`,
);

export const body: fc.Arbitrary<() => Buffer> = fc.oneof(
  { weight: 8, arbitrary: framed.map((make) => () => Buffer.from(make())) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 5000 }).map((bytes) => () => Buffer.from(bytes)) },
  { weight: 1, arbitrary: size.map((bytes) => () => Buffer.alloc(bytes, 'a=%zz&q[]=1&')) },
  { weight: 1, arbitrary: size.map((bytes) => () => Buffer.alloc(bytes, 0)) },
);

const piece = fc.oneof(
  fc.constantFrom(
    't=',
    'v1=',
    'v0=',
    'sha256=',
    'q',
    '=',
    '&',
    ',',
    '%',
    '%00',
    '%ff',
    '+',
    '..',
    '[0]',
    '[*]',
    '__proto__',
    ';',
  ),
  fc.stringMatching(/^[0-9a-zA-Z/+=_.-]{0,40}$/),
  fc.nat(2 ** 40).map(String),
);
const pieces = fc
  .tuple(fc.array(piece, { maxLength: 30 }), fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 60 })))
  .map(([some, times]) => some.join('').repeat(times));

/** A query, longer at times than a server takes. */
export const query = pieces.map((text) => text.slice(0, 40_000));

const SIGNATURES = [
  'x-hub-signature-256',
  'stripe-signature',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'x-signature',
];
const OTHERS = [
  'content-type',
  'x-fuzz',
  'x-request-id',
  'accept',
  'forwarded',
  'x-forwarded-for',
  'idempotency-key',
  'cookie',
  'traceparent',
  'tracestate',
  'x-hookyard-hops',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'authorization',
];
export const headers: fc.Arbitrary<Record<string, string>> = fc.dictionary(
  fc.constantFrom(...SIGNATURES, ...OTHERS),
  fc.oneof(
    pieces.map((text) => text.slice(0, 10_000)),
    fc.constantFrom('application/json', 'text/plain', 'utf-16'),
  ),
  { maxKeys: 8 },
);

const LINES = [
  'GET /healthz HTTP/1.1',
  'POST /ingest/a/b HTTP/1.1',
  'POST http://a/ingest/a/b HTTP/1.0',
  'OPTIONS * HTTP/1.1',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 65536',
  'PROXY UNKNOWN',
  '\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c',
  'PRI * HTTP/2.0',
  'Host: a',
  'Host: a:99999999',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Connection: close, keep-alive, x',
  'Expect: 100-continue',
  'X: \x00\x7f\xff',
  ' folded',
  ':',
  '',
  '5',
  'ffffffffffffffff',
  '5;a=b;c="',
  '0',
];

/** Bytes of a connection: lines of HTTP in any order, and noise between them. */
export const wire: fc.Arbitrary<Buffer> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...LINES) },
        {
          weight: 1,
          arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
        },
        {
          weight: 1,
          arbitrary: fc
            .tuple(fc.constantFrom('a', '\t', ',', '0'), fc.integer({ min: 1, max: 70_000 }))
            .map(([unit, times]) => unit.repeat(times)),
        },
      ),
      fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n\r\n', ''),
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((lines) => Buffer.from(lines.flat().join(''), 'latin1'));
