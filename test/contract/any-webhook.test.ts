// Webhooks are stored as the bytes that came, so
// nothing in them is malformed: not for filters, schemas and idempotency keys that look into them, and not for those who read
// them afterwards.
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { forgetQueued, makeDestination, makeRoute, makeSource, type SourceRecord } from '../support/api-records.ts';
import { logLines } from '../support/telemetry/log-lines.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { useService } from '../support/use-hookyard.ts';

const SEED = 20_261_121;
const COUNT = 150;

interface Webhook {
  body: Buffer;
  headers: Record<string, string>;
  query: string;
}

const nested = (levels: number) => Buffer.from(`{"id":${'['.repeat(levels)}${']'.repeat(levels)}}`);
const body: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
  fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text, 'utf16le')),
  fc.constantFrom(100, 1000, 10_000, 200_000).map(nested),
  fc
    .constantFrom(
      ...[
        '{"id":"a\\u0000b"}',
        '{"id":"\\ud800"}',
        '{"id":1e400}',
        `{"id":${'9'.repeat(400)}}`,
        '{"__proto__":{"id":1}}',
        '{"id":{"__proto__":1}}',
      ],
      ...['{"id":', '\ufeff{"id":1}', '{"id":1}\0', '\0', '', 'null', '{"id":"\ud800"}', '{"id":null,"id":2}'],
    )
    .map((text) => Buffer.from(text)),
);
const webhook: fc.Arbitrary<Webhook> = fc.record({
  body,
  headers: fc.dictionary(
    fc.constantFrom('content-type', 'content-encoding', 'x-id', 'x-other', 'cookie', '__proto__', 'constructor'),
    fc.constantFrom('application/json', 'gzip', 'x/y; charset=utf-16', ';', '\u00e4\u00ff', 'a\tb', 'x'.repeat(4000)),
  ),
  query: fc.constantFrom('', 'a=1&a=2', '%', '%00', 'a=%ff%fe', '__proto__=1', '=&&=', 'x'.repeat(4000)),
});

describe('Any webhook', () => {
  const service = useService('api');
  let organization: TestOrganization;
  let source: SourceRecord;

  before(async () => {
    organization = await createOrganization({ service });
    source = await makeSource(organization, { idempotencyKey: { jsonPath: '$.id', windowSeconds: 60 } });
    const schema = await organization.api.create('/api/schemas', {
      name: 'Deep',
      schema: { type: 'object', properties: { id: { type: ['string', 'array', 'number'], maxLength: 10 } } },
    });
    const filters = [
      { field: 'payload.id', operator: 'matches', value: '^a+$' },
      { field: 'payload.id[*].x', operator: 'gt', value: 1 },
      { field: 'query.a', operator: 'contains', value: '\ufffd' },
      { field: 'headers.x-id', operator: 'exists' },
      { field: '__proto__.id', operator: 'exists' },
    ];
    for (const condition of filters) {
      const { id } = await makeDestination(organization, { enabled: false });
      await makeRoute(organization, source.id, [id], { filterConditions: [condition], filterLogic: 'OR' });
    }
    const { id } = await makeDestination(organization, { enabled: false });
    await makeRoute(organization, source.id, [id], { schemaId: schema.id });
  });
  after(async () => {
    await forgetQueued(organization);
  });

  function send(path: string, method: string, sent?: Webhook): Promise<{ status: number; bytes: Buffer }> {
    const { hostname, port } = new URL(service.url);
    const headers = sent ? { ...sent.headers } : { authorization: `Bearer ${organization.token}` };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, method, path, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(parts) }));
      });
      request.on('error', reject).end(sent?.body);
    });
  }

  it(`is taken, kept byte by byte, and can be read, ${COUNT} of them`, async () => {
    const path = `/ingest/${organization.slug}/${source.slug}`;
    for (const sent of fc.sample(webhook, { seed: SEED, numRuns: COUNT })) {
      const what = `${JSON.stringify(sent.headers).slice(0, 100)} ${sent.query.slice(0, 20)} ${sent.body.subarray(0, 80).toString('latin1')}`;
      const answer = await send(sent.query === '' ? path : `${path}?${sent.query}`, 'POST', sent);
      expect(answer.status, `${what}: ${answer.bytes}`).to.equal(200);
      const { eventId, duplicate } = JSON.parse(answer.bytes.toString());
      const event = `${organization.base}/events/${eventId}`;
      const payload = await send(`${event}/payload`, 'GET');
      expect(payload.status, what).to.equal(200);
      // A repeat is the first one with the same key, whose other bytes may differ.
      if (!duplicate) expect(payload.bytes.equals(sent.body), what).to.equal(true);
      for (const read of [`${event}?includePayload=true&includeDeliveries=true`, `${event}/timeline`]) {
        expect((await send(read, 'GET')).status, `${what} ${read}`).to.equal(200);
      }
    }
  });

  it('can be found and listed afterwards, and was no failure of the service', async () => {
    for (const search of ['id', '\ufffd', '%', '\\', '[[[[']) {
      await organization.api.list(`${organization.base}/events?search=${encodeURIComponent(search)}`);
    }
    expect((await organization.api.list(`${organization.base}/events`)).pagination.total).to.be.above(COUNT / 3);
    const lines = logLines(service);
    expect(lines.length, 'the log is read').to.be.above(COUNT);
    expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).to.deep.equal([]);
  });
});
