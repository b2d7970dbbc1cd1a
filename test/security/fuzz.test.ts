// Whatever strangers send in webhooks, the API's event loop is never held for long, no request is answered with an
// internal error, and the process lives. What is written for a single reader: test/core/worst-texts.test.ts.
import { expect } from 'chai';
import fc from 'fast-check';
import { OPERATOR_NAMES } from '../../core/filters/filter.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { LONGEST_TURN_MS, LOOP_WATCH, longTurns } from '../support/attacks/loop-watch.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

const TRIED_MS = 6000;
const DEEPEST = 200_000;
/** Set FUZZ_SEED to repeat a run. */
const seed = Number(process.env.FUZZ_SEED) || Date.now() % 2 ** 31;

const size = fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 2000, max: 5_000_000 }));
const unit = fc.constantFrom('0', '1e999', '""', '"\\ud800"', '{}', '[]', 'null', '{"sku":{"sku":[1]}}', '[[1,2],[3]]');
const times = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / Buffer.byteLength(text)));
/** Made when it is sent: it may be large. JSON, or nearly. */
const body: fc.Arbitrary<() => string | Uint8Array> = fc.oneof(
  fc.tuple(unit, size).map(
    ([text, bytes]) =>
      () =>
        `{"items":[${times(`${text},`, bytes)}1]}`,
  ),
  fc.tuple(unit, size).map(([text, bytes]) => () => {
    const count = Math.ceil(bytes / (text.length + 12));
    return `{${Array.from({ length: count }, (_, index) => `"k${index}":${text}`).join(',')}}`;
  }),
  fc.tuple(fc.constantFrom('a', '\\"', '𐍈', '9'), size).map(
    ([text, bytes]) =>
      () =>
        `{"a":"${times(text, bytes)}"}`,
  ),
  fc.tuple(fc.constantFrom('1', '1e', '-'), size).map(
    ([text, bytes]) =>
      () =>
        text + times('7', bytes),
  ),
  fc.tuple(fc.constantFrom(['[', ']'], ['{"a":', '}']), fc.constantFrom(1000, DEEPEST), fc.boolean()).map(
    ([[open = '', close = ''], depth, isClosed]) =>
      () =>
        `${open.repeat(depth)}1${isClosed ? close.repeat(depth) : ''}`,
  ),
  fc.json({ maxDepth: 8 }).map((text) => () => text),
  fc.uint8Array({ maxLength: 5000 }).map((bytes) => () => bytes),
  size.map((bytes) => () => times('a=%zz&q[]=1&', bytes)),
);
const pieces = fc
  .tuple(
    fc.array(fc.constantFrom('t=', 'v1=', 'sha256=', '=', '&', ',', '%00', '%ff', '[*]', '__proto__', ';', '0aF'), {
      maxLength: 30,
    }),
    fc.integer({ min: 1, max: 60 }),
  )
  .map(([some, count]) => some.join('').repeat(count).slice(0, 10_000));
const headers = fc.dictionary(
  fc.constantFrom(
    ...['x-hub-signature-256', 'stripe-signature', 'x-slack-request-timestamp', 'x-signature', 'content-type'],
    ...['x-request-id', 'forwarded', 'x-forwarded-for', 'cookie', 'traceparent', 'x-hookyard-hops', 'webhook-id'],
  ),
  fc.oneof(pieces, fc.constantFrom('application/json', 'utf-16')),
  { maxKeys: 8 },
);

describe('Hostile input', () => {
  const service = useService('api', LOOP_WATCH);
  let urls: string[];

  before(async () => {
    process.stdout.write(`    FUZZ_SEED=${seed}\n`);
    const organization = await createOrganization({ service });
    const to = async () => [(await makeDestination(organization, { enabled: false })).id];
    const filtered = await makeSource(organization);
    for (const operator of OPERATOR_NAMES) {
      const filterConditions = FIELDS.flatMap((field, index) => ({ field, operator, ...valueFor(operator, index) }));
      await makeRoute(organization, filtered.id, await to(), { filterConditions, filterLogic: 'OR', name: operator });
    }
    const validated = await makeSource(organization);
    const item = { type: ['object', 'number'], properties: { sku: { type: 'string', pattern: '^(a|b)*c$' } } };
    const schema = { type: 'object', properties: { items: { type: 'array', uniqueItems: true, items: item } } };
    const { id: schemaId } = await organization.api.create('/api/schemas', { name: 'Order', schema });
    await makeRoute(organization, validated.id, await to(), { schemaId });
    const secret = 'a secret of the provider';
    const others = [
      { idempotencyKey: { jsonPath: 'items[*].sku', windowSeconds: 60 } },
      ...['github', 'stripe', 'slack'].map((type) => ({ verificationConfig: { type, secret } })),
      { verificationConfig: { type: 'hmac', secret, header: 'X-Signature', encoding: 'base64' } },
    ];
    const sources = await Promise.all(others.map((fields) => makeSource(organization, fields)));
    urls = [filtered, validated, ...sources].map(({ slug }) => `${service.url}/ingest/${organization.slug}/${slug}`);
  });

  it('holds nobody up and ends nothing', async () => {
    // Loading modules is one long turn.
    let told = service.output().length;
    const property = fc.asyncProperty(fc.nat(100), body, pieces, headers, async (at, make, query, sent) => {
      const bytes = Buffer.from(make() as string);
      const what = `${bytes.length} bytes beginning with ${bytes.subarray(0, 60).toString('latin1')}`;
      const answer = await send('POST', `${urls[at % urls.length]}?${query}`, sent, bytes).catch(
        (error: NodeJS.ErrnoException) => expect(error.code, what).to.be.oneOf(['ECONNRESET', 'EPIPE']),
      );
      expect(answer, what).to.not.have.property('status', 500);
      // A few more turns of the loop, in which a long one is told.
      for (let turn = 0; turn < 3; turn += 1)
        expect((await send('GET', `${service.url}/healthz`)).status, what).to.equal(200);
      expect(Math.max(0, ...longTurns(service, told)), `ms that the loop was held, ${what}`).to.be.below(
        LONGEST_TURN_MS,
      );
      told = service.output().length;
    });
    const until = performance.now() + TRIED_MS;
    for (let next = seed; next === seed || performance.now() < until; next = (next + 1) % 2 ** 31)
      await fc.assert(property, { seed: next, numRuns: 1, endOnFailure: true });
  });
});

const FIELDS = ['payload[*]', 'items[*].sku', 'items[*][*]', 'payload', 'a', 'headers.x-signature', 'query.q'];

/** Values that match nothing, so that every condition is looked at, as large as a filter may be. */
function valueFor(operator: string, index: number): { value?: unknown } {
  if (operator === 'exists' || operator === 'not_exists') return {};
  if (operator === 'matches' || operator === 'regex') return { value: `(a|b|ab)*c{1,20}d${index}$` };
  if (operator === 'in' || operator === 'not_in') return { value: Array.from({ length: 1000 }, () => [index]) };
  if (/^(gt|lt|greater|less)/.test(operator)) return { value: operator.startsWith('l') ? -1e300 : 1e300 };
  return { value: `${'a'.repeat(6000)}${index}` };
}
