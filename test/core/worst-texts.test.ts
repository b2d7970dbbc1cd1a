// Texts of strangers and tenants, written for whatever reads them: long runs of the characters that its patterns and
// loops look for. What takes longer than in proportion to the length would hold a process with one webhook. Random
// input (test/security/fuzz.test.ts) does not find that.
import { expect } from 'chai';
import { pino } from 'pino';
import { nearestOf } from '../../api/request/ignored.ts';
import { parseTime } from '../../api/request/query.ts';
import { parseRetryAfter } from '../../core/delivery/backoff.ts';
import { cleanJson, errorText } from '../../core/text/error-summary.ts';
import { deliveryUrl, withoutParameter } from '../../core/delivery/delivery-url.ts';
import { parsePath } from '../../core/text/dotted-path.ts';
import { emailList } from '../../core/messages/route-mails.ts';
import { readForm } from '../../core/forms/forms.ts';
import { checkHeaderName, isMediaType, hopsOf } from '../../core/http/headers.ts';
import { pathProblem } from '../../core/ingest/ingest-url.ts';
import { hostAndPort, urlProblem, addressesUnder } from '../../core/http/urls.ts';
import { oneLine } from '../../core/messages/message.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import { plain, summaryLine } from '../../core/temporal/operator-markdown.ts';
import { maskHeaders } from '../../core/text/redaction.ts';
import { verificationConfigSchema } from '../../core/verification/config.ts';
import { slugify } from '../../core/text/slugs.ts';
import { sourceAnswerSchema } from '../../core/ingest/source-answer.ts';
import { isTracestate, parseTraceparent } from '../../core/http/trace-context.ts';
import { type Scheme, type RawRequest, verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { warehouseConfigSchemas } from '../../core/warehouse/config.ts';
import { convert } from '../../core/warehouse/columns.ts';
import { payloadText } from '../../core/warehouse/rows.ts';
import { parseAllowList } from '../../outbound/http/address-guard.ts';
import { describeStoreError } from '../../outbound/warehouses/errors.ts';
import { providers } from '../../providers/index.ts';
import { verifyAs } from '../support/providers/signature-vectors.ts';
import { LONGEST_TURN_MS } from '../support/attacks/loop-watch.ts';
import { temporalLogger } from '../../worker/temporal/log.ts';

// As long as the headers and the address of a request may be together; bodies are longer.
const LENGTH = 32 * 1024;

const WAREHOUSE_MEMBERS = [
  ...['bucket', 'region', 'projectId', 'accountId', 'accountName', 'containerName', 'roleArn'],
  ...['accessKeyId', 'secretAccessKey', 'accountKey', 'serviceAccountKey', 'sasToken'],
];
const every = (names: string[], value: string) => Object.fromEntries(names.map((name) => [name, value]));
const withQuery = (own: string, query: string) =>
  deliveryUrl({ url: `https://a.example/?${own}`, forwardQuery: true, forwardPath: false }, { query, path: '' });

/** What reads a text, and what it looks for in it. */
const readers: Record<string, { units: readonly string[]; read: (text: string) => unknown }> = {
  'a query that is added to an address': {
    units: ['[', ']', '[]', '[a', '.', ';', '&', '&[', '%', '%u', '%25', '=', '+'],
    read: (query) => withQuery('b=1', query),
  },
  'the query of a destination': { units: ['[', '&a', ';'], read: (query) => withQuery(query, 'b=1') },
  'a query without its token': { units: ['&', 'a=&', '%'], read: (query) => withoutParameter(query, 'token') },
  'a path below a source': {
    units: ['/', '/.', '%', '%25', '%u', '%2f', ' ', '/a'],
    read: (path) => pathProblem(`/${path}`),
  },
  'the address of a destination': { units: ['/', '.', '@', ':', '%'], read: (text) => urlProblem(`https://${text}`) },
  'an address that may be our own': {
    units: ['/', '.', '.localhost', ':', '127.'],
    read: addressesUnder('https://hooks.example/base/'),
  },
  'the path to a value': { units: ['.', '.a', '[', '[0', "['", '["', ']', '[*]'], read: parsePath },
  'a time of a header': { units: ['-', '1', 'mon', ' ', ',', 'GMT'], read: (text) => parseRetryAfter(text, 0) },
  'a time of a query': { units: ['1', '-', '2026-01-01 ', ' 00', 'Z'], read: parseTime },
  'the hops of a webhook': { units: [',', ' ', '1', '1 ', '\t'], read: (text) => hopsOf({ 'x-hookyard-hops': text }) },
  'the trace of a webhook': {
    units: ['0', '-', '00-', '=', ',', ' ', 'a=b,'],
    read: (text) => [parseTraceparent(text), isTracestate(text)],
  },
  'names and values of headers': {
    units: ['-', ';', '; ', '"', '\\', 'a=', ' ', '-key', 'auth', '_'],
    read: (text) => [checkHeaderName(text), isMediaType(`a/b${text}`), maskHeaders({ [text]: text })],
  },
  'a form': {
    units: ['&', '=', '%', '+', '\n', '\r\n', '; ', ';a="', '\\', '--x\r\n', '\r\n\r\n', 'a: b\r\n', '\r\n '],
    read: (text) => {
      const part = Buffer.from(`--x\r\nContent-Disposition: form-data${text}\r\n\r\n${text}`);
      const types = [`application/x-www-form-urlencoded${text}`, 'multipart/form-data; boundary=x'];
      return [...types, `${types[1]}${text}`].map((type) => readForm(part, type));
    },
  },
  'a form in a line': {
    units: ['&', '=', '%', '+', '\n', '\r'],
    read: (text) => readForm(Buffer.from(text), 'application/x-www-form-urlencoded'),
  },
  'a number in JSON': {
    units: ['1', '1.', '-', '1e', '.1', ',', ' ', '1 ', '['],
    read: (text) => [attempt(() => parseExact(`[${text}]`)), attempt(() => parseExact(`["${text}"]`))],
  },
  'a value that is to be a number or a time': {
    units: ['0', '1', '.', '-', 'e', '2026-01-01T', ':00'],
    read: (text) => (['number', 'timestamp', 'boolean'] as const).map((type) => convert(text, type)),
  },
  'a payload in a file': {
    units: ['\\', '\\u', '\\ud800', '\n', '\r\n', '"'],
    read: (text) => [payloadText(Buffer.from(`"${text}"`)), cleanJson(`"${text}"`)],
  },
  'an error that is shown': {
    units: ['`', '*', '<', '[', '\\', '\n', ' ', '.', 'a.b', ':/', '\u202e'],
    read: (text) => [plain(text), summaryLine(text), oneLine(text), errorText(text)],
  },
  'what an object store answers': {
    units: ['iat', 'not within', 'not within time', 'request date', ' ', 'token used', 'exp'],
    read: (message) =>
      describeStoreError(
        { $metadata: { httpStatusCode: 400 }, name: 'Other', message },
        { service: 'S3', bucket: 'b', credentials: 'c', permission: 'p', address: 'endpoint', region: null },
      ),
  },
  'what Temporal logs': {
    units: ['a', '0', 'a-', '-', "code: '", 'code: ', 'message: "', '\\"', "', message: "],
    read: (text) => {
      const logger = temporalLogger(pino({ level: 'warn' }, { write: () => {} }));
      for (const facts of [{ error: text }, { error: `code: X, message: "${text}` }, { failure: `message: "${text}` }])
        logger.log('WARN', text, { sdkComponent: 'core', ...facts });
      logger.log('WARN', 'failed', { error: new Error(text) });
    },
  },
  'the config of a warehouse': {
    units: ['/', 'a/', '.', '\\', '%', '0', '-', ':', '@'],
    read: (text) => {
      const config = { ...every(WAREHOUSE_MEMBERS, text), prefix: `a${text}a`, endpoint: `https://${text}` };
      return Object.values(warehouseConfigSchemas).map((schema) => schema.safeParse(config));
    },
  },
  'a list of mail addresses': {
    units: [',', 'a', '.', '@', 'a@', 'a@b.', '-', "'"],
    read: (text) => emailList.safeParse(text),
  },
  'a list of hosts': {
    units: ['.', '-', 'a', 'a.', ':', '0', '/', '['],
    read: (text) => [attempt(() => parseAllowList([text])), attempt(() => hostAndPort(`${text}:1`))],
  },
  'the answer of a source': {
    units: ['/', '; ', ';a=b', '=', '-'],
    read: (text) => sourceAnswerSchema.safeParse({ status: 200, contentType: `a/b${text}` }),
  },
  'a name': {
    units: ['-', 'e\u0301', '_', ' ', 'a'],
    read: (text) => [slugify(text, 'filter'), nearestOf({ path: [text], known: ['destinationId'], isRefused: false })],
  },
  'what an owner says of a sender': {
    units: ['{', '}', '{body}', '{bod', '-', '=', ':', '/'],
    read: (text) =>
      ['hmac_template', 'public_key', 'jwt', 'header_token', 'basic', 'query_token', 'body_token'].map((type) =>
        verificationConfigSchema.safeParse({
          ...every(['secret', 'template', 'header', 'path', 'parameter'], text),
          ...{ type, jwksUrl: `https://${text}` },
          ...(type === 'public_key' && { algorithm: 'rsa' }),
        }),
      ),
  },
  'a signature of Stripe': {
    units: [',', 'v1=', 't=', ' ', 'v1=,'],
    read: (text) => verifyAs({ type: 'stripe', secret: 'x' }, { headers: { 'stripe-signature': text } }),
  },
  'what providers send': {
    units: ['=', ',', ';', ' ', '.', 'a', 'Bearer ', 'sha256=', 'v1=', '&', '|', '[', '{"a":', '/'],
    read: (text) => Promise.all(providers.map(({ verification }) => verified(verification, text))),
  },
};

/** Verifies a request in which everything that comes from the sender is the text. */
function verified(scheme: Scheme, text: string) {
  const body = Buffer.from(text);
  const request: RawRequest = {
    // Whatever the header is called.
    headers: new Proxy({}, { get: () => text, has: () => true, getOwnPropertyDescriptor: () => ANY_HEADER }),
    ...{ method: 'POST', body, nowMs: 0, isRepeated: () => false, parsed: (parse) => parse(body) },
    ...{ url: () => `https://hooks.example/?${text}`, query: () => new URLSearchParams(text) },
  };
  return verify(scheme, { secret: 'a secret of many letters' }, request, NO_KEYS);
}
const ANY_HEADER = { configurable: true, enumerable: true, value: '' };

/** What refuses a text by an error has read it, too. */
function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

describe('Texts made for what reads them', () => {
  for (const [what, { units, read }] of Object.entries(readers)) {
    it(`take no long turn: ${what}`, async () => {
      for (const unit of units) {
        const run = unit.repeat(LENGTH / unit.length);
        for (const text of [run, `a${run}`, `${run}!`, `a${run}a`]) {
          const name = JSON.stringify(`${text.slice(0, 12)}...${text.slice(-4)}`);
          // Once more for what took long: a collection of garbage may have come between, and does not come each time.
          const took = [await cpuMs(() => read(text))];
          while (took.length < 3 && (took.at(-1) ?? 0) >= LONGEST_TURN_MS) took.push(await cpuMs(() => read(text)));
          expect(Math.min(...took), name).to.be.below(LONGEST_TURN_MS);
        }
      }
    }).timeout(60_000);
  }
});
