// The attacks of docs/security.md by content, each in short and in every run: what a tenant writes into filters, mappings and schemas,
// and what a stranger sends. Each ends visibly, and meanwhile the probe and another organization's webhooks are answered.
import { expect } from 'chai';
import fc from 'fast-check';
import { deliveriesOf, ingest, makeSource, type SourceRecord } from '../support/api-records.ts';
import { largeSchema, letters, slowPattern, slowRules, sourceWithRoutes } from '../support/budget-attacks.ts';
import { statusOf, tryFor } from '../support/fuzzing.ts';
import { body, headers, query } from '../support/hostile-input.ts';
import { send } from '../support/http-client.ts';
import { makeNeighbour, type Neighbour } from '../support/neighbour.ts';
import { createOrganization, type Service, sharedService, type TestOrganization } from '../support/service.ts';
import { times } from '../support/times.ts';
import { answersTo } from './raw-connection.ts';

const MEBIBYTE = 1024 * 1024;
// While the event loop was held, a few would be answered at most.
const MANY = 8;
const DEPTH = 200_000;
const FUZZ_MS = 1000;
const JSON_TYPE = { 'content-type': 'application/json' };
const SIGNED = { verificationConfig: { type: 'github', secret: 'a secret of sixteen bytes' } };

describe('Every attack by content, in short', () => {
  let service: Service;
  let organization: TestOrganization;
  let neighbour: Neighbour;
  before(async () => {
    service = await sharedService('api');
    organization = await createOrganization();
    neighbour = await makeNeighbour(service);
  });

  const addressOf = ({ slug }: SourceRecord) => `${service.url}/ingest/${organization.slug}/${slug}`;
  const filteredBy = (...routes: object[][]) =>
    sourceWithRoutes(
      organization,
      routes.map((filterConditions) => ({ filterConditions, filterLogic: 'OR' })),
    );
  /** What becomes of a webhook, and how much of others was answered meanwhile. */
  async function sent(source: SourceRecord, text: string) {
    const { result, seen } = await neighbour.during(() => ingest(organization, source, text));
    return { deliveries: await deliveriesOf(organization, result), answers: seen.answers };
  }
  const expectAlive = async (what: string) =>
    expect((await send('GET', `${service.url}/healthz`)).status, what).to.equal(200);

  it('regular expressions times routes end as filter_failed', async () => {
    const conditions = (route: number) =>
      times(10, (n) => ({ field: 'payload.text', operator: 'matches', value: slowPattern(500 + 10 * route + n) }));
    const source = await filteredBy(conditions(0), conditions(1));
    const { deliveries, answers } = await sent(source, JSON.stringify({ text: letters(MEBIBYTE) }));
    expect(deliveries.map(({ status }) => status)).to.deep.equal(['filter_failed', 'filter_failed']);
    for (const { error } of deliveries) expect(error).to.match(/^The filter was not applied: /);
    expect(answers).to.be.at.least(MANY);
  });

  it('fifty conditions on every element end as filter_failed', async () => {
    const source = await filteredBy(times(50, (n) => ({ field: 'payload[*]', operator: 'equals', value: `x${n}` })));
    const { deliveries } = await sent(source, `[${'0,'.repeat(100_000)}0]`);
    expect(deliveries.map(({ status }) => status)).to.deep.equal(['filter_failed']);
    expect(deliveries[0]?.error).to.match(/leads to more than 100000 values/);
  });

  it('mappings that search long make no row', async () => {
    const secrets = { accessKeyId: 'a', secretAccessKey: 'b' };
    // Nothing listens there: no file is made.
    const config = { bucket: 'events', region: 'eu-central-1', ...secrets, endpoint: 'http://127.0.0.1:9' };
    const destination = { name: 'Lake', type: 's3', config, fieldMapping: slowRules(8) };
    const { id } = await organization.api.create('/api/destinations', destination);
    const payload = { texts: [letters(100 * 1024)] };
    const { result, seen } = await neighbour.during(() =>
      organization.api.request('POST', `/api/destinations/${id}/test`, { payload }),
    );
    expect(result.body).to.include({ success: false });
    expect(result.body.error).to.match(/^The row takes too long to make/);
    expect(seen.answers).to.be.at.least(MANY);
  });

  it('schemas of 800 properties are compiled beside everything else', async () => {
    const { result, seen } = await neighbour.during(() =>
      organization.api.create('/api/schemas', { name: 'Large', schema: largeSchema('a') }),
    );
    expect(seen.answers).to.be.at.least(MANY);
    const source = await sourceWithRoutes(organization, [{ schemaId: result.id }]);
    const { deliveries } = await sent(source, '{"a3":"wrong"}');
    expect(deliveries.map(({ status }) => status)).to.deep.equal(['schema_failed']);
    expect(deliveries[0]?.error).to.include('/a3 must match pattern');
  });

  it('JSON that nests 200,000 levels deep is stored, refused where it must be signed, and no request', async () => {
    const open = await filteredBy([{ field: 'payload[*]', operator: 'equals', value: 1 }]);
    const keyed = await makeSource(organization, { idempotencyKey: { jsonPath: 'a[*]', windowSeconds: 60 } });
    const signed = await makeSource(organization, SIGNED);
    const authorization = `Bearer ${organization.token}`;
    for (const [start, end] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', ''],
    ] as const) {
      const bytes = Buffer.from(`${start.repeat(DEPTH)}1${end.repeat(DEPTH)}`);
      const what = `${start}...${end}`;
      for (const source of [open, keyed]) {
        expect(await statusOf(addressOf(source), JSON_TYPE, bytes), what).to.equal(200);
      }
      expect(await statusOf(addressOf(signed), JSON_TYPE, bytes), what).to.equal(401);
      const management = `${service.url}/api/destinations`;
      const status = await statusOf(management, { ...JSON_TYPE, authorization }, bytes.subarray(0, MEBIBYTE));
      expect(status, what).to.equal(400);
      await expectAlive(what);
    }
  });

  it('bodies, queries and headers at random are no internal error', async () => {
    const sources = [
      await filteredBy([{ field: 'items[*].sku', operator: 'matches', value: '(a|b)*c$' }]),
      await makeSource(organization, { idempotencyKey: { jsonPath: 'items[*].sku', windowSeconds: 60 } }),
      await makeSource(organization, SIGNED),
    ];
    await tryFor(
      FUZZ_MS,
      fc.asyncProperty(fc.constantFrom(...sources), body, query, headers, async (source, make, text, given) => {
        const bytes = make();
        const status = await statusOf(`${addressOf(source)}?${text}`, given, bytes);
        const what = `${bytes.length} bytes beginning with ${bytes.subarray(0, 60).toString('latin1')}`;
        expect(status, what).to.not.equal(500);
        await expectAlive(what);
      }),
    );
  });

  it('requests whose end can be seen in two places are refused, and what they hide is not carried out', async () => {
    const source = await makeSource(organization);
    const start = `POST ${new URL(addressOf(source)).pathname} HTTP/1.1\r\nHost: a\r\n`;
    const hidden = `${start}Content-Length: 2\r\n\r\n{}`;
    const chunked = 'Transfer-Encoding: chunked\r\n';
    for (const framed of [
      `${start}Content-Length: 5\r\n${chunked}\r\n0\r\n\r\n`,
      `${start}${chunked}Content-Length: 5\r\n\r\n0\r\n\r\n`,
      `${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      `${start}${chunked}\r\n5\nhello\r\n0\r\n\r\n`,
    ]) {
      const answers = await answersTo(Number(new URL(service.url).port), framed + hidden);
      expect(
        answers.map(({ status }) => status),
        framed,
      ).to.deep.equal([400]);
    }
    const events = await organization.api.list(`${organization.base}/events?sourceId=${source.id}`);
    expect(events.pagination.total).to.equal(0);
  });

  it('headers that name another client are not believed', async () => {
    const source = await makeSource(organization);
    const claimed = { 'X-Forwarded-For': '192.0.2.1', Forwarded: 'for=192.0.2.1', 'X-Real-IP': '192.0.2.1' };
    const id = await ingest(organization, source, '{}', claimed);
    expect(await organization.api.get(`${organization.base}/events/${id}`)).to.include({ clientAddress: '127.0.0.1' });
  });
});
