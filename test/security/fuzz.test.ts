// Whatever strangers send, the API's event loop is never held for long, no request is answered with an internal error,
// and the process lives.
import { expect } from 'chai';
import fc from 'fast-check';
import { OPERATOR_NAMES } from '../../core/filters/filter.ts';
import { makeDestination, makeRoute, makeSource, type SourceRecord } from '../support/api-records.ts';
import { exchanged, expectAlive, seed, statusOf, tryFor } from '../support/attacks/fuzzing.ts';
import { body, headers, query, wire } from '../support/attacks/hostile-input.ts';
import { LOOP_WATCH } from '../support/attacks/loop-watch.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

const BODIES_MS = 5000;
const MAPPINGS_MS = 2000;
const WIRES_MS = 2000;

describe('Hostile input', () => {
  const service = useService('api', LOOP_WATCH);
  let organization: TestOrganization;
  let sources: SourceRecord[];
  let isAlive: ReturnType<typeof expectAlive>;

  before(async () => {
    process.stdout.write(`    FUZZ_SEED=${seed}\n`);
    isAlive = expectAlive(service);
    organization = await createOrganization({ service });
    const { id } = await makeDestination(organization, { enabled: false });
    sources = [
      await filtered(id),
      await validated(id),
      await makeSource(organization, { idempotencyKey: { jsonPath: 'items[*].sku', windowSeconds: 60 } }),
      ...(await Promise.all(
        VERIFICATIONS.map((verificationConfig) => makeSource(organization, { verificationConfig })),
      )),
    ];
  });

  /** Every operator on every kind of path, as many at a time as a filter may have. */
  async function filtered(destinationId: string): Promise<SourceRecord> {
    const source = await makeSource(organization);
    for (const operator of OPERATOR_NAMES) {
      const filterConditions = FIELDS.flatMap((field, index) => ({ field, operator, ...valueFor(operator, index) }));
      await makeRoute(organization, source.id, [destinationId], {
        filterConditions,
        filterLogic: 'OR',
        name: operator,
      });
      // A route with the same destination is a duplicate otherwise.
      destinationId = (await makeDestination(organization, { enabled: false })).id;
    }
    return source;
  }

  async function validated(destinationId: string): Promise<SourceRecord> {
    const source = await makeSource(organization);
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`k${index}`, { type: 'string', pattern: '^(a|b)*c$' }]),
    );
    const item = {
      type: ['object', 'number'],
      properties: { sku: { enum: Array.from({ length: 500 }, (_, index) => `s${index}`) } },
    };
    const schema = {
      type: 'object',
      properties: { ...properties, items: { type: 'array', uniqueItems: true, items: item } },
    };
    const { id: schemaId } = await organization.api.create('/api/schemas', { name: 'Order', schema });
    await makeRoute(organization, source.id, [destinationId], { schemaId });
    return source;
  }

  it('in bodies, addresses, headers and signatures of webhooks', async () => {
    const source = fc.nat(100).map((index) => sources[index % sources.length]?.slug ?? '');
    await tryFor(
      BODIES_MS,
      fc.asyncProperty(source, body, query, headers, async (slug, makeBody, text, sent) => {
        const bytes = makeBody();
        const url = `${service.url}/ingest/${organization.slug}/${slug}?${text}`;
        const status = await statusOf(url, sent, bytes);
        const what = `source ${slug}, ${bytes.length} bytes beginning with ${bytes.subarray(0, 60).toString('latin1')}`;
        expect(status, what).to.not.equal(500);
        await isAlive(what);
      }),
    );
  });

  it('in payloads that mappings read', async () => {
    const secrets = { accessKeyId: 'a', secretAccessKey: 'b' };
    const config = { bucket: 'events', region: 'eu-central-1', ...secrets, endpoint: 'http://127.0.0.1:9' };
    const fieldMapping = PATHS.map((path, index) => ({ source: path, target: `c${index}`, type: 'json' }));
    const destination = { name: 'Lake', type: 's3', config, fieldMapping };
    const { id } = await organization.api.create('/api/destinations', destination);
    await tryFor(
      MAPPINGS_MS,
      fc.asyncProperty(body, async (makeBody) => {
        const bytes = Buffer.concat([Buffer.from('{"payload":{"items":'), makeBody(), Buffer.from('}}')]);
        const authorization = `Bearer ${organization.token}`;
        const sent = { authorization, 'content-type': 'application/json' };
        const status = await statusOf(`${service.url}/api/destinations/${id}/test`, sent, bytes);
        const what = `${bytes.length} bytes beginning with ${bytes.subarray(0, 60).toString('latin1')}`;
        expect(status, what).to.not.equal(500);
        await isAlive(what);
      }),
    );
  });

  it('in framing: bytes that are hardly HTTP', async () => {
    await tryFor(
      WIRES_MS,
      fc.asyncProperty(wire, async (bytes) => {
        const answer = await exchanged(service, bytes);
        expect(answer, bytes.toString('latin1')).to.not.match(/^HTTP\/1\.1 500/m);
        await isAlive(bytes.toString('latin1').slice(0, 200));
      }),
    );
  });
});

const FIELDS = [
  'payload[*]',
  'items[*]',
  'items[*].sku',
  'items[*][*]',
  'payload',
  'a',
  'headers.x-fuzz',
  'query.q',
  'id',
];
const PATHS = [
  '$.payload..sku',
  '$.payload.items[*]',
  "$.payload.items[?search(@.sku, '(a|b)*c$')]",
  '$.headers',
  "$.payload.items[?match(@, 'a*b')]",
];
const VERIFICATIONS = [
  ...['github', 'stripe', 'slack'].map((type) => ({ type, secret: 'a secret of the provider' })),
  { type: 'hmac', secret: 'a secret of the provider', header: 'X-Signature', encoding: 'base64' },
];

/** Values that match nothing, so that every condition is looked at, as large as a filter may be. */
function valueFor(operator: string, index: number): { value?: unknown } {
  if (operator === 'exists' || operator === 'not_exists') return {};
  if (operator === 'matches' || operator === 'regex') return { value: `(a|b|ab)*c{1,20}d${index}$` };
  if (operator === 'in' || operator === 'not_in') {
    return { value: Array.from({ length: 1000 }, () => [index]) };
  }
  if (/^(gt|lt|greater|less)/.test(operator)) return { value: operator.startsWith('l') ? -1e300 : 1e300 };
  return { value: `${'a'.repeat(6000)}${index}` };
}
