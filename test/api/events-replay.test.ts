// Replays of events, one or many (RPL).
import { expect } from 'chai';
import { expectInvalid } from '../support/api-client.ts';
import {
  deliveriesOf,
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

describe('The replay of events', () => {
  let organization: TestOrganization;
  let events: string;
  let pipeline: Pipeline;
  before(async () => {
    organization = await createOrganization();
    events = `${organization.base}/events`;
    pipeline = await makePipeline(organization);
  });
  afterEach(() => forgetQueued(organization));

  it('creates deliveries to all destinations and makes the event pending again', async () => {
    const id = await ingest(organization, pipeline.source, '{}');
    const original = await deliveryOf(organization, id);
    await recordAttempt({ eventId: id, deliveryId: original.id });
    const result = await organization.api.post(`${events}/${id}/replay`);
    expect(result.deliveriesCreated).to.equal(1);
    expect(result.message).to.be.a('string').that.is.not.empty;
    expect(await organization.api.get(`${events}/${id}`)).to.include({ status: 'pending', deliveriesCount: 1 });
    const [, replay] = await deliveriesOf(organization, id);
    expect(replay).to.include({ status: 'pending', replayOf: original.id });
  });

  it('goes to chosen destinations only', async () => {
    const source = await makeSource(organization);
    const [a, b] = [await makeDestination(organization), await makeDestination(organization)];
    await makeRoute(organization, source.id, [a.id, b.id]);
    const id = await ingest(organization, source, '{}');
    expect(await organization.api.post(`${events}/${id}/replay`, { destinationIds: [b.id] })).to.include({
      deliveriesCreated: 1,
    });
    const deliveries = await organization.api.list(`/api/deliveries?eventId=${id}&destinationId=${b.id}`);
    expect(deliveries.pagination.total).to.equal(2);
    for (const destinationIds of [['dst_unknown'], [pipeline.destination.id], []]) {
      expectInvalid(
        await organization.api.request('POST', `${events}/${id}/replay`, { destinationIds }),
        'destinationIds',
      );
    }
  });

  it('replays many and ignores unknown ids', async () => {
    const ids = [await ingest(organization, pipeline.source, '{}'), await ingest(organization, pipeline.source, '{}')];
    const other = await createOrganization();
    const foreign = await ingest(other, (await makePipeline(other)).source, '{}');
    const eventIds = [...ids, foreign, 'evt_unknown', 'x'];
    const result = await organization.api.post(`${events}/bulk/replay`, { eventIds });
    expect(result).to.include({ eventsQueued: 2, deliveriesCreated: 2 });
    expect(result.message).to.be.a('string').that.is.not.empty;
    const nothing = await organization.api.post(`${events}/bulk/replay`, { eventIds: [foreign] });
    expect(nothing).to.include({ eventsQueued: 0, deliveriesCreated: 0 });
    expect(await deliveriesOf(other, foreign)).to.have.length(1);
    await forgetQueued(other);
  });

  for (const [what, body, path] of [
    ['no ids', {}, 'eventIds'],
    ['an empty list', { eventIds: [] }, 'eventIds'],
    ['more than 100 ids', { eventIds: Array.from({ length: 101 }, () => 'evt_1') }, 'eventIds'],
    ['ids that are no text', { eventIds: [5] }, 'eventIds.0'],
  ] as const) {
    it(`answers 400 to a bulk replay with ${what}`, async () => {
      expectInvalid(await organization.api.request('POST', `${events}/bulk/replay`, body), path);
    });
  }
});
