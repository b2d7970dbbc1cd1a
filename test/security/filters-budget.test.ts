// Filters that are as much work as an organization can write, on webhooks as large as anyone can send: the event loop is held by none
// of them, so others are served meanwhile, and what becomes of the webhook is visible.
import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { deliveriesOf, ingest, makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { makeNeighbour, type Neighbour } from '../support/neighbour.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';

// Other test files use the processors too. Without budgets the attacks hold the loop from five seconds to minutes.
const BAR_MS = 2000;
const MEBIBYTE = 1024 * 1024;

interface Delivery {
  id: string;
  status: string;
  error: string;
}

const times = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const matches = (value: string) => ({ field: 'payload.text', operator: 'matches', value });
const objects = (count: number, kind: string) => times(count, (n) => ({ id: n, kind }));

describe('Filters that are too much work', function () {
  this.timeout(180_000);
  let service: Service;
  let organization: TestOrganization;
  let neighbour: Neighbour;
  before(async () => {
    service = await startService('api');
    organization = await createOrganization({ service });
    neighbour = await makeNeighbour(service);
  });
  after(() => service.stop());

  /** A source with routes of these conditions. */
  async function sourceWith(routes: object[][]) {
    const source = await makeSource(organization);
    const { id } = await makeDestination(organization);
    for (const filterConditions of routes) {
      // Two routes with the same destinations would be refused as duplicates.
      const own = await makeDestination(organization);
      await makeRoute(organization, source.id, routes.length === 1 ? [id] : [own.id], {
        filterConditions,
        filterLogic: 'OR',
      });
    }
    return source;
  }

  const attacks: { what: string; routes: object[][]; body: () => string; error?: RegExp }[] = [
    {
      what: 'regular expressions times routes',
      routes: times(20, (route) => times(10, (n) => matches(`[\\p{L}]{${880 + route}}[${n}-9]`))),
      body: () => JSON.stringify({ text: 'ab'.repeat(MEBIBYTE) }),
    },
    {
      what: 'fifty conditions on every element of 10 MB',
      routes: [times(50, (n) => ({ field: 'payload[*]', operator: 'equals', value: `x${n}` }))],
      body: () => `[${'0,'.repeat(5 * MEBIBYTE - 10)}0]`,
      error: /leads to more than 100000 values/,
    },
    {
      what: 'a list of a thousand objects for every element',
      routes: [[{ field: 'payload[*]', operator: 'in', value: objects(1000, 'x') }]],
      body: () => JSON.stringify(objects(90_000, 'y')),
    },
    {
      what: 'a text made for a slow search',
      routes: [times(5, () => ({ field: 'payload.text', operator: 'contains', value: `b${'a'.repeat(9_000)}` }))],
      body: () => JSON.stringify({ text: 'a'.repeat(9 * MEBIBYTE) }),
    },
    {
      what: 'numbers of millions of digits',
      routes: [times(50, (n) => ({ field: 'payload[*]', operator: 'gt', value: n }))],
      body: () => `[${'7'.repeat(9 * MEBIBYTE)}]`,
    },
  ];

  for (const { what, routes, body, error = /^The filter was not applied: / } of attacks) {
    it(`leave others alone: ${what}`, async () => {
      const source = await sourceWith(routes);
      const { result: eventId, seen } = await neighbour.during(() => ingest(organization, source, body()));
      expect(seen.longestMs, `the slowest of ${seen.answers} answers`).to.be.lessThan(BAR_MS);
      const { data } = await organization.api.list<Delivery>(`/api/deliveries?eventId=${eventId}&pageSize=100`);
      for (const delivery of data) {
        expect(delivery.status).to.equal('filter_failed');
        expect(delivery.error).to.match(error);
      }
      expect(data).to.have.length(routes.length);
      const event = await organization.api.get(`${organization.base}/events/${eventId}`);
      expect(event).to.include({ status: 'failed', deliveriesCount: data.length, deliveriesFailed: data.length });
      const listed = await organization.api.list<Delivery>(`/api/deliveries?status=filter_failed&eventId=${eventId}`);
      expect(listed.pagination.total).to.equal(data.length);
      expect(service.running).to.equal(true);
    });
  }

  it('are too much only for webhooks that are too large; a replay asks no filter', async () => {
    const source = await sourceWith([[matches('[\\p{L}]{900}[0-9]')]]);
    expect(
      (
        await deliveriesOf(
          organization,
          await ingest(organization, source, JSON.stringify({ text: `${'a'.repeat(900)}1` })),
        )
      )[0]?.status,
    ).to.equal('pending');
    expect(await deliveriesOf(organization, await ingest(organization, source, '{"text":"a1"}'))).to.deep.equal([]);
    const text = 'ab'.repeat(MEBIBYTE);
    const eventId = await ingest(organization, source, JSON.stringify({ text }));
    const [failed] = await deliveriesOf(organization, eventId);
    if (!failed) throw new Error('there is no delivery');
    expect(failed.status).to.equal('filter_failed');
    await organization.api.request('POST', `/api/deliveries/${failed.id}/replay`);
    expect((await deliveriesOf(organization, eventId)).map(({ status }) => status)).to.deep.equal([
      'filter_failed',
      'pending',
    ]);
  });

  it('of many webhooks in a row take no more of the loop than of one', async () => {
    const source = await sourceWith([times(10, (n) => matches(`[\\p{L}]{900}[${n}-9]`))]);
    const body = JSON.stringify({ text: 'ab'.repeat(512) });
    const send = () => Promise.all(times(60, () => ingest(organization, source, body)));
    const { seen } = await neighbour.during(send);
    expect(seen.longestMs, `the slowest of ${seen.answers} answers`).to.be.lessThan(BAR_MS);
    expect(seen.answers).to.be.at.least(4);
  });

  it('can be tried out, which leaves others alone too', async () => {
    const conditions = times(50, (n) => ({ field: 'payload[*]', operator: 'in', value: objects(50, `x${n}`) }));
    const payload = objects(20_000, 'y');
    const { result, seen } = await neighbour.during(() =>
      organization.api.request('POST', '/api/filters/test', { conditions, logic: 'OR', payload }),
    );
    expect(result.status).to.be.oneOf([200, 400]);
    if (result.status === 400) expect(result.body).to.include({ code: 'INVALID_FILTER' });
    expect(seen.longestMs).to.be.lessThan(BAR_MS);
  });
});

describe('The sandbox of workflows', () => {
  it('runs no filter, schema or mapping', () => {
    const root = join(import.meta.dirname, '..', '..');
    const seen = new Set<string>();
    const follow = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, from = ''] of readFileSync(join(root, file), 'utf8').matchAll(
        /^(?:import|export) (?!type )[^;]*?from '(\.[^']*)'/gm,
      )) {
        follow(join(dirname(file), from));
      }
    };
    for (const file of globSync('workflows/**/*.ts', { cwd: root })) follow(file);
    expect([...seen]).to.include('core/backoff.ts');
    const work = /^core\/(?:filters|schemas|gates|linear-regex|warehouse\/(?:json-path|field-mapping))/;
    expect([...seen].filter((file) => work.test(file))).to.deep.equal([]);
  });
});
