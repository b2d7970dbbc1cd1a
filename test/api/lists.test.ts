// Lists by cursor, and the filters of deliveries and events that are not counted.
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
      const found = async (query: string) => {
        const paged = await ids('/api/deliveries', query);
        const { data } = await part('/api/deliveries', `${query}&cursor=first`);
        expect(
          data.map(({ id }) => id),
          `${query} by cursor`,
        ).to.deep.equal(paged);
        expect((await own.api.list(`/api/deliveries?${query}`)).pagination.total, query).to.equal(paged.length);
        return paged;
      };
      expect(await found('status=failed,retrying')).to.deep.equal([broken, refused]);
      expect(await found('status=pending,failed')).to.deep.equal([waiting, refused]);
      expect(await found(`sourceId=${invoices.source.id}`)).to.deep.equal([waiting, done, broken]);
      expect(await found(`sourceId=${invoices.source.id}&status=retrying,failed`)).to.deep.equal([broken]);
      expect(await found('statusCode=404')).to.deep.equal([refused]);
      expect(await found('statusCode=500')).to.deep.equal([]);
      expect(await found('codeClass=4xx')).to.deep.equal([refused]);
      expect(await found('codeClass=2xx')).to.deep.equal([done]);
      expect(await found('codeClass=none')).to.deep.equal([broken]);
      expect(await found('error=REFUSED')).to.deep.equal([broken]);
      expect(await found(`error=${encodeURIComponent('100%_')}`)).to.deep.equal([refused]);
      expect(await found(`error=${encodeURIComponent('4%0')}`)).to.deep.equal([]);
      expect(await found('lane=workflow')).to.deep.equal([done, broken, refused]);
      expect(await found('lane=express')).to.deep.equal([]);
      expect(await found(`lane=workflow&destinationId=${invoices.destination.id}&codeClass=2xx`)).to.deep.equal([done]);
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
      const [first, second, later] = [
        await makeDestination(own),
        await makeDestination(own),
        await makeDestination(own),
      ];
      const [one, two] = [await makeRoute(own, source.id, [first.id]), await makeRoute(own, source.id, [second.id])];
      const both = await ingest(own, source, '{"n":1}');
      await own.api.delete(`/api/routes/${two.id}`);
      const single = await ingest(own, source, '{"n":2}');
      const unrouted = await ingest(own, await makeSource(own), '{}');
      const events = `${own.base}/events`;
      const found = async (query: string) => {
        const paged = await ids(events, query);
        const { data } = await part(events, `${query}&cursor=first`);
        expect(
          data.map(({ id }) => id),
          `${query} by cursor`,
        ).to.deep.equal(paged);
        expect((await own.api.list(`${events}?${query}`)).pagination.total, query).to.equal(paged.length);
        return paged;
      };
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
