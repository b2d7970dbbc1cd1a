import { expect } from 'chai';
import { expectInvalid, type Json } from '../support/api-client.ts';
import {
  deliveryOf,
  expirePayload,
  forgetQueued,
  ingest,
  makePipeline,
  recordAttempt,
} from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('Replays by filter', () => {
  const organization = useOrganization();
  const pipeline = useMade('a pipeline', () => makePipeline(organization));
  afterEach(async () => {
    // Whether a worker runs beside these tests or not, none of their replays continues.
    await testPool().query(
      `update event_replays set status = 'cancelled', finished_at = now(), due_at = null
       where organization_id = $1 and due_at is not null`,
      [organization.id],
    );
    await forgetQueued(organization);
  });

  const post = (body: object) => organization.api.request('POST', `${organization.base}/events/replay`, body);

  // Filters that are empty: requests.test.ts.
  for (const [what, body, path] of [
    ['nothing', {}, 'all'],
    ['all: false', { all: false }, 'all'],
    ['nothing, as a dry run', { dryRun: true }, 'all'],
    ['everything and a filter', { all: true, status: 'failed' }, 'all'],
    ['an unknown destination', { all: true, destinationIds: ['dst_unknown'] }, 'destinationIds'],
  ] as const) {
    it(`are refused whose body chooses ${what}`, async () => expectInvalid(await post(body), path));
  }

  describe('a dry run', () => {
    const own = useOrganization();
    const first = useMade('a pipeline', () => makePipeline(own));
    const second = useMade('a pipeline', () => makePipeline(own));
    const ids: Record<string, string> = {};
    before(async () => {
      ids.failed = await ingest(own, first.source, '{"order":"A-1"}');
      await recordAttempt({
        eventId: ids.failed,
        deliveryId: (await deliveryOf(own, ids.failed)).id,
        deliveryStatus: 'failed',
      });
      ids.expired = await ingest(own, first.source, '{"order":"A-2"}');
      await expirePayload(ids.expired);
      ids.other = await ingest(own, second.source, '{"order":"A-3"}');
    });
    after(() => forgetQueued(own));

    const count = (body: object) =>
      own.api.post<{ eventsTotal: number; eventsExpired: number; filter: Json }>(`${own.base}/events/replay`, {
        ...body,
        dryRun: true,
      });

    it('counts what each filter finds, and what has no payload any more', async () => {
      expect(await count({ all: true })).to.deep.equal({
        dryRun: true,
        filter: {},
        eventsTotal: 3,
        eventsExpired: 1,
      });
      const expectations: [object, number, number][] = [
        [{ sourceId: first.source.id }, 2, 1],
        [{ status: 'failed' }, 1, 0],
        [{ status: 'pending' }, 2, 1],
        // What is gone cannot be searched.
        [{ search: 'a-' }, 2, 0],
        [{ search: 'A-3', sourceId: first.source.id }, 0, 0],
        [{ sourceId: 'src_unknown' }, 0, 0],
        [{ from: '2100-01-01' }, 0, 0],
        [{ to: '2100-01-01' }, 3, 1],
      ];
      for (const [filter, total, expired] of expectations) {
        const answer = await count(filter);
        expect([answer.eventsTotal, answer.eventsExpired], JSON.stringify(filter)).to.deep.equal([total, expired]);
      }
    });

    it('finds exactly what the list finds', async () => {
      const { receivedAt } = await own.api.get<{ receivedAt: string }>(`${own.base}/events/${ids.expired}`);
      const filters: Record<string, string>[] = [
        { from: receivedAt },
        { to: receivedAt },
        { from: receivedAt, to: receivedAt },
      ];
      for (const filter of filters) {
        const { pagination } = await own.api.list(`${own.base}/events?${new URLSearchParams(filter)}`);
        const answer = await count(filter);
        expect(answer.eventsTotal).to.equal(pagination.total);
        expect(answer.filter).to.deep.equal(filter);
      }
    });
  });

  it('answers 200 with the record, which is read and listed as well', async () => {
    await ingest(organization, pipeline.source, '{"n":1}');
    const filter = {
      sourceId: pipeline.source.id,
      status: 'pending',
      from: '2026-01-01T00:00:00.000Z',
      to: '2100-01-01T00:00:00.000Z',
      search: '"n"',
    };
    const answer = await post({ ...filter, destinationIds: [pipeline.destination.id], ratePerSecond: 7 });
    expect(answer.status).to.equal(200);
    const made = answer.body;
    expect(made.id).to.match(/^rpl_/);
    expect(made).to.deep.include({
      filter,
      destinationIds: [pipeline.destination.id],
      ratePerSecond: 7,
      eventsTotal: 1,
      error: null,
      workflowId: made.id,
    });
    expect(made.createdAt).to.match(ISO_MS);
    const replays = `${organization.base}/events/replays`;
    expect(await organization.api.get(`${replays}/${made.id}`)).to.include({ id: made.id, ratePerSecond: 7 });
    const { data } = await organization.api.list<{ id: string }>(replays);
    expect(data[0]?.id).to.equal(made.id);
  });
});
