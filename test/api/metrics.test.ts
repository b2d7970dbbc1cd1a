// GET /api/metrics: what is asked for, and how the answer looks. That its figures are those of the rows is shown by
// db/figures.test.ts.
import { expect } from 'chai';
import { expectInvalid, type Json } from '../support/api-client.ts';
import {
  deliveryOf,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  makeSource,
  type Pipeline,
  recordAttempt,
} from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useEach } from '../support/use-hookyard.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Metrics extends Json {
  from: string;
  to: string;
  completeUntil: string;
  groups: number;
  series: { id: string | null; name: string | null; total: Json; points: (Json & { at: string })[] }[];
}

describe('The figures of an organization', () => {
  const organization = useEach(createOrganization);
  afterEach(() => forgetQueued(organization));

  const ask = (query = '') => organization.api.get<Metrics>(`/api/metrics${query}`);

  /** An event with one attempt for each status code; null: without an answer. */
  async function attempt(pipeline: Pipeline, codes: (number | null)[]): Promise<void> {
    for (const [index, statusCode] of codes.entries()) {
      const eventId = await ingest(organization, pipeline.source, '{}');
      const { id: deliveryId } = await deliveryOf(organization, eventId);
      const deliveryStatus = statusCode === 200 ? 'delivered' : 'failed';
      await recordAttempt({ eventId, deliveryId, deliveryStatus, statusCode, latency: (index + 1) * 10 });
    }
  }

  it('are deliveries by how they ended, in hours of the last day, unless something else is asked for', async () => {
    await attempt(await makePipeline(organization), [200, 200, 500]);
    const answer = await ask();
    expect(answer).to.include({ metric: 'deliveries', groupBy: null, step: 3600, groups: 1 });
    expect(Date.parse(answer.to) - Date.parse(answer.from)).to.be.within(DAY, DAY + HOUR);
    expect(Date.parse(answer.to)).to.be.at.least(Date.now() - HOUR);
    expect(Date.parse(answer.completeUntil)).to.be.within(Date.now() - 400_000, Date.now());
    const total = { delivered: 2, failed: 1, failedOver: 0, notSent: 0, cancelled: 0 };
    const [series] = answer.series;
    expect(series).to.deep.include({ id: null, name: null, total });
    for (const { at } of series?.points ?? []) expect(Date.parse(at) % HOUR).to.equal(0);
    const sum = (name: string) => (series?.points ?? []).reduce((all, point) => all + Number(point[name]), 0);
    expect([sum('delivered'), sum('failed'), sum('cancelled')]).to.deep.equal([2, 1, 0]);
  });

  it('are grouped by records with their names, those with most first', async () => {
    const [few, many] = [await makePipeline(organization), await makePipeline(organization)];
    await attempt(few, [200]);
    await attempt(many, [200, 200]);
    for (const [groupBy, id] of [
      ['source', ({ source }: Pipeline) => source.id],
      ['route', ({ route }: Pipeline) => route.id],
      ['destination', ({ destination }: Pipeline) => destination.id],
    ] as const) {
      const { series, groups } = await ask(`?groupBy=${groupBy}`);
      expect(groups).to.equal(2);
      expect(series.map((each) => [each.id, each.total.delivered])).to.deep.equal([
        [id(many), 2],
        [id(few), 1],
      ]);
      for (const { name } of series) expect(name).to.match(new RegExp(`^${groupBy} \\d+$`, 'i'));
    }
    const narrowed = await ask(`?groupBy=route&sourceId=${few.source.id}`);
    expect(narrowed.series.map(({ id }) => id)).to.deep.equal([few.route.id]);
    for (const name of ['sourceId', 'routeId', 'destinationId']) {
      const record = { sourceId: few.source, routeId: few.route, destinationId: few.destination }[name];
      expect((await ask(`?${name}=${record?.id}`)).series[0]?.total.delivered, name).to.equal(1);
    }
  });

  it('tell attempts by status code, and by class of it', async () => {
    const pipeline = await makePipeline(organization);
    await attempt(pipeline, [200, 200, 404, 503, null, 999]);
    const { series } = await ask('?metric=attempts');
    const classes = { '2xx': 2, '4xx': 1, '5xx': 1, none: 1, other: 1 };
    // Of those with an answer: 10, 20, 30, 40 and 60 ms.
    const figures = { attempts: 6, avgLatency: 32, classes };
    expect(series).to.have.length(1);
    expect(series[0]?.total).to.deep.equal({ ...figures, codes: { 200: 2, 404: 1, 503: 1, none: 1, other: 1 } });
    expect((series[0]?.points ?? []).reduce((sum, point) => sum + Number(point.attempts), 0)).to.equal(6);
    const byCode = await ask(`?metric=attempts&groupBy=statusCode&destinationId=${pipeline.destination.id}`);
    expect(Object.fromEntries(byCode.series.map(({ id, total }) => [id, total.attempts]))).to.deep.equal({
      ...{ 200: 2, 404: 1, 503: 1, none: 1, other: 1 },
    });
  });

  it('have percentiles of latencies by destination', async () => {
    const pipeline = await makePipeline(organization);
    await attempt(pipeline, [...Array<number>(10).fill(200), null]);
    const latencies = { attempts: 10, p50: 50, p95: 100, p99: 100 };
    const of = await ask(`?metric=latency&destinationId=${pipeline.destination.id}`);
    expect(of.series).to.have.length(1);
    expect(of.series[0]).to.deep.include({ id: null, name: null, total: latencies });
    const by = await ask('?metric=latency&groupBy=destination');
    expect(by.series.map(({ id, total }) => ({ id, total }))).to.deep.equal([
      { id: pipeline.destination.id, total: latencies },
    ]);
  });

  it('count events by source and route, and those that a filter refused', async () => {
    const pipeline = await makePipeline(organization);
    const { source, route } = pipeline;
    const other = await makeDestination(organization);
    const filterConditions = [{ field: 'payload.kind', operator: 'equals', value: 'paid' }];
    const picky = await organization.api.create('/api/routes', {
      ...{ name: 'Picky', sourceId: source.id, destinationIds: [other.id], filterConditions },
    });
    for (const kind of ['paid', 'open', 'open']) await ingest(organization, source, JSON.stringify({ kind }));
    const by = async (query: string, name: string) =>
      Object.fromEntries((await ask(query)).series.map(({ id, total }) => [id, total[name]]));
    expect(await by('?metric=events', 'events')).to.deep.equal({ null: 3 });
    expect(await by('?metric=events&groupBy=source', 'events')).to.deep.equal({ [source.id]: 3 });
    expect(await by('?metric=events&groupBy=route', 'events')).to.deep.equal({ [route.id]: 3, [picky.id]: 1 });
    expect(await by('?metric=filtered', 'filtered')).to.deep.equal({ null: 2 });
    expect(await by('?metric=filtered&groupBy=route', 'filtered')).to.deep.equal({ [picky.id]: 2 });
  });

  it('count refused webhooks by cause and source, in hours', async () => {
    const verified = await makeSource(organization, {
      verificationConfig: { type: 'github', secret: 'a secret of sixteen bytes' },
    });
    const disabled = await makeSource(organization, { enabled: false });
    const began = Date.now();
    const refused = async ({ webhookUrl }: { webhookUrl: string }, times: number) => {
      for (let time = 0; time < times; time += 1) {
        const url = organization.api.url + new URL(webhookUrl).pathname;
        expect((await send('POST', url, { 'content-type': 'application/json' }, '{}')).status).to.be.within(401, 403);
      }
    };
    await refused(verified, 3);
    await refused(disabled, 2);
    const [total] = await until('all to be counted', async () => {
      const { series } = await ask('?metric=refused');
      return series[0]?.total.refused === 5 && series;
    });
    expect(total).to.deep.include({ id: null, total: { refused: 5, causes: { disabled: 2, signature: 3 } } });
    const steps = total?.points ?? [];
    expect(steps.reduce((sum, { refused: count }) => sum + Number(count), 0)).to.equal(5);
    for (const { at } of steps) expect(Date.parse(at)).to.be.within(began - HOUR, Date.now());
    const { series } = await ask('?metric=refused&groupBy=source');
    expect(series.map(({ id, total: its }) => [id, its])).to.deep.equal([
      [verified.id, { refused: 3, causes: { signature: 3 } }],
      [disabled.id, { refused: 2, causes: { disabled: 2 } }],
    ]);
    const narrowed = await ask(`?metric=refused&sourceId=${disabled.id}`);
    expect(narrowed.series.map(({ total: its }) => its.refused)).to.deep.equal([2]);
  });

  it('count what a schema refuses as not sent, at ingest and when it is replayed', async () => {
    const pipeline = await makePipeline(organization);
    const { id: schemaId } = await organization.api.create('/api/schemas', {
      ...{ name: 'Order', schema: { type: 'object', required: ['order'] } },
    });
    await organization.api.patch(`/api/routes/${pipeline.route.id}`, { schemaId });
    const eventId = await ingest(organization, pipeline.source, '{}');
    await organization.api.post(`${organization.base}/events/${eventId}/replay`);
    expect((await ask()).series[0]?.total).to.include({ notSent: 2, failed: 0 });
    expect((await ask('?metric=attempts')).series).to.deep.equal([]);
  });

  const ago = (ms: number) => encodeURIComponent(new Date(Date.now() - ms).toISOString());
  const wrong: [query: string, member: string][] = [
    ['metric=revenue', 'metric'],
    ['groupBy=day', 'groupBy'],
    ['metric=events&groupBy=destination', 'groupBy'],
    ['metric=deliveries&groupBy=statusCode', 'groupBy'],
    ['metric=latency&groupBy=source', 'groupBy'],
    ['metric=events&destinationId=dst_x', 'destinationId'],
    ['metric=refused&groupBy=route', 'groupBy'],
    ['metric=refused&destinationId=dst_x', 'destinationId'],
    ['metric=refused&step=300', 'step'],
    ['metric=latency', 'destinationId'],
    ['metric=latency&destinationId=dst_x&routeId=rte_x', 'routeId'],
    ['step=299', 'step'],
    ['step=1000', 'step'],
    ['step=172800', 'step'],
    ['from=yesterday', 'from'],
    [`from=${ago(0)}&to=${ago(HOUR)}`, 'from'],
    [`from=${ago(40 * DAY)}&step=86400`, 'from'],
    [`from=${ago(32 * DAY)}&to=${ago(31.5 * DAY)}&step=86400`, 'from'],
    [`from=${ago(3 * DAY)}&step=300`, 'step'],
    [`metric=latency&groupBy=destination&from=${ago(7 * DAY)}`, 'from'],
  ];
  for (const [query, member] of wrong) {
    it(`are refused for ${query.replaceAll(/\d{4}-[^&]+/g, '<time>')}`, async () => {
      expectInvalid(await organization.api.request('GET', `/api/metrics?${query}`), member);
    });
  }
});
