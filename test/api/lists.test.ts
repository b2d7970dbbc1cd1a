import { expect } from 'chai';
import { expectInvalid, type Json } from '../support/api-client.ts';
import {
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  makeRoute,
  makeSource,
  type Pipeline,
  recordAttempt,
} from '../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';

interface Part {
  data: (Json & { id: string })[];
  pagination: {
    pageSize: number;
    nextCursor: string | null;
    searchedUntil: string | null;
    total?: number;
    totalIsExact?: boolean;
  };
}

describe('Lists', () => {
  let own: TestOrganization;
  let orders: Pipeline;
  let invoices: Pipeline;
  before(async () => {
    own = await createOrganization();
    [orders, invoices] = [await makePipeline(own), await makePipeline(own)];
  });
  afterEach(() => forgetQueued(own));
  const lists = () => [`${own.base}/events`, '/api/deliveries'];
  const part = (path: string, query: string) => own.api.get<Part>(`${path}${path.includes('?') ? '&' : '?'}${query}`);
  const ids = async (path: string, query: string) => (await own.api.list(`${path}?${query}`)).data.map(({ id }) => id);
  /** What a query finds: by page, by cursor and in the total. */
  const foundAt = async (path: string, query: string) => {
    const { data, pagination } = await own.api.list(`${path}?${query}`);
    const paged = data.map(({ id }) => id);
    const byCursor = (await part(path, `${query}&cursor=first`)).data.map(({ id }) => id);
    expect([byCursor, pagination.total], query).to.deep.equal([paged, paged.length]);
    return paged;
  };

  describe('by cursor', () => {
    it('give every item once, whatever is stored meanwhile', async () => {
      for (let n = 0; n < 5; n += 1) await ingest(own, orders.source, '{}');
      for (const path of lists()) {
        const before = await ids(path, 'pageSize=100');
        const found: string[] = [];
        let cursor: string | null = 'first';
        while (cursor !== null) {
          const { data, pagination }: Part = await part(path, `pageSize=2&cursor=${cursor}`);
          expect(pagination).to.have.all.keys('pageSize', 'nextCursor', 'searchedUntil');
          expect(pagination).to.include({ pageSize: 2, searchedUntil: null });
          found.push(...data.map(({ id }) => id));
          await ingest(own, orders.source, '{}');
          cursor = pagination.nextCursor;
        }
        expect(found).to.deep.equal(before);
      }
    });

    it('count only when asked', async () => {
      for (const path of lists()) {
        const { total } = (await own.api.list(path)).pagination;
        expect((await part(path, 'cursor=first&withTotal=true')).pagination.total).to.equal(total);
        expect((await part(path, 'cursor=first&withTotal=false')).pagination).to.not.have.property('total');
      }
    });

    it('refuse what is no cursor, another way to page, and a total without one', async () => {
      for (const path of lists()) {
        for (const [query, name] of [
          ['cursor=second', 'cursor'],
          ['cursor=src_06f3k2v8q0e7x1c5b9m4n6p8qr', 'cursor'],
          ['cursor=first&page=1', 'page'],
          ['withTotal=true', 'withTotal'],
          ['cursor=first&withTotal=maybe', 'withTotal'],
        ] as const) {
          expectInvalid(await own.api.request('GET', `${path}?${query}`), name);
        }
      }
    });
  });

  describe('of deliveries', () => {
    let refused: string;
    let broken: string;
    let waiting: string;
    let done: string;
    before(async () => {
      const made = async (pipeline: Pipeline, attempt?: Partial<Parameters<typeof recordAttempt>[0]>) => {
        const eventId = await ingest(own, pipeline.source, '{}');
        const { id } = await deliveryOf(own, eventId);
        if (attempt) await recordAttempt({ eventId, deliveryId: id, ...attempt });
        return id;
      };
      own = await createOrganization();
      [orders, invoices] = [await makePipeline(own), await makePipeline(own)];
      refused = await made(orders, {
        deliveryStatus: 'failed',
        statusCode: 404,
        error: 'The answer was 404: 100%_off',
      });
      broken = await made(invoices, { deliveryStatus: 'retrying', statusCode: null, error: 'Connection refused' });
      done = await made(invoices);
      waiting = await made(invoices, undefined);
      await recordAttempt({
        eventId: String((await own.api.get(`/api/deliveries/${done}`)).eventId),
        deliveryId: done,
        statusCode: 202,
      });
    });

    it('are filtered by statuses, source, answer, error and lane', async () => {
      const [ofInvoices, toInvoices] = [`sourceId=${invoices.source.id}`, `destinationId=${invoices.destination.id}`];
      const table: [query: string, ids: string[]][] = [
        ['status=failed,retrying', [broken, refused]],
        ['status=pending,failed', [waiting, refused]],
        [ofInvoices, [waiting, done, broken]],
        [`${ofInvoices}&status=retrying,failed`, [broken]],
        ['statusCode=404', [refused]],
        ['statusCode=500', []],
        ['codeClass=4xx', [refused]],
        ['codeClass=2xx', [done]],
        ['codeClass=none', [broken]],
        ['error=REFUSED', [broken]],
        [`error=${encodeURIComponent('100%_')}`, [refused]],
        [`error=${encodeURIComponent('4%0')}`, []],
        ['lane=workflow', [done, broken, refused]],
        ['lane=express', []],
        [`lane=workflow&${toInvoices}&codeClass=2xx`, [done]],
      ];
      for (const [query, expected] of table)
        expect(await foundAt('/api/deliveries', query), query).to.deep.equal(expected);
      const { eventId } = await own.api.get(`/api/deliveries/${refused}`);
      expect(await ids('/api/deliveries', `eventId=${eventId}&codeClass=4xx`)).to.deep.equal([refused]);
      expect(await ids('/api/deliveries', `eventId=${eventId}&codeClass=5xx`)).to.deep.equal([]);
    });

    it('are refused filters that cannot be', async () => {
      for (const [query, name] of [
        ['status=failed,lost', 'status'],
        ['status=failed,', 'status'],
        ['statusCode=99', 'statusCode'],
        ['statusCode=40x', 'statusCode'],
        ['codeClass=6xx', 'codeClass'],
        ['lane=slow', 'lane'],
      ] as const) {
        expectInvalid(await own.api.request('GET', `/api/deliveries?${query}`), name);
      }
    });
  });

  describe('of events', () => {
    it('are filtered by statuses, and by the route and destination of their deliveries', async () => {
      own = await createOrganization();
      const source = await makeSource(own);
      const [first, second] = [await makeDestination(own), await makeDestination(own)];
      const later = await makeDestination(own);
      const [one, two] = [await makeRoute(own, source.id, [first.id]), await makeRoute(own, source.id, [second.id])];
      const both = await ingest(own, source, '{"n":1}');
      await own.api.delete(`/api/routes/${two.id}`);
      const single = await ingest(own, source, '{"n":2}');
      const unrouted = await ingest(own, await makeSource(own), '{}');
      const events = `${own.base}/events`;
      const found = (query: string) => foundAt(events, query);
      expect(await found(`routeId=${one.id}`)).to.deep.equal([single, both]);
      expect(await found(`routeId=${two.id}`)).to.deep.equal([both]);
      expect(await found(`destinationId=${second.id}`)).to.deep.equal([both]);
      expect(await found(`routeId=${one.id}&destinationId=${second.id}`)).to.deep.equal([]);
      expect(await found(`routeId=${one.id}&search=${encodeURIComponent('"n":2')}`)).to.deep.equal([single]);
      expect(await found('routed=false')).to.deep.equal([unrouted]);
      expect(await found('status=pending,failed')).to.deep.equal([single, both]);
      expect(await found('status=delivered,pending')).to.deep.equal([unrouted, single, both]);
      // A replay to where it has not been makes it one of that destination's.
      expect(await found(`destinationId=${later.id}`)).to.deep.equal([]);
      await makeRoute(own, source.id, [later.id]);
      await own.api.post(`${events}/${both}/replay`, { destinationIds: [later.id] });
      expect(await found(`destinationId=${later.id}`)).to.deep.equal([both]);
      expectInvalid(await own.api.request('GET', `${events}?status=failed,lost`), 'status');
    });
  });
});
