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
  recordAttempt,
} from '../support/api-records.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

describe('The replay of events', () => {
  const organization = useOrganization();
  // The same operations as those of the organization.
  const events = '/api/events';
  const pipeline = useMade('a pipeline', () => makePipeline(organization));
  afterEach(() => forgetQueued(organization));

  /** All deliveries of an event that are open. */
  async function endAll(eventId: string, deliveryStatus: 'delivered' | 'failed' = 'delivered'): Promise<void> {
    for (const { id, status } of await deliveriesOf(organization, eventId))
      if (status === 'pending') await recordAttempt({ eventId, deliveryId: id, deliveryStatus });
  }

  it('passes over destinations to which a delivery is open, however it is asked for', async () => {
    const source = await makeSource(organization);
    const [a, b] = [await makeDestination(organization), await makeDestination(organization)];
    await makeRoute(organization, source.id, [a.id, b.id]);
    const id = await ingest(organization, source, '{}');
    const one = () => organization.api.post(`${events}/${id}/replay`);
    const many = () => organization.api.post(`${events}/bulk/replay`, { eventIds: [id] });
    expect(await one()).to.include({ deliveriesCreated: 0 });
    expect(await many()).to.include({ eventsQueued: 0, deliveriesCreated: 0 });
    const [toA] = await deliveriesOf(organization, id);
    await recordAttempt({ eventId: id, deliveryId: String(toA?.id), deliveryStatus: 'failed' });
    expect(await many()).to.include({ eventsQueued: 1, deliveriesCreated: 1 });
    expect(await one()).to.include({ deliveriesCreated: 0 });
    await endAll(id);
    expect(await organization.api.get(`${events}/${id}`)).to.include({ status: 'delivered', deliveriesCount: 2 });
    expect(await one()).to.include({ deliveriesCreated: 2 });
    await endAll(id);
  });

  it('creates one delivery where several ask for it at the same moment', async () => {
    const id = await ingest(organization, pipeline.source, '{}');
    await endAll(id, 'failed');
    const failed = await deliveryOf(organization, id);
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => organization.api.post(`${events}/${id}/replay`)),
      ...[1, 2, 3].map(() => organization.api.post(`${events}/bulk/replay`, { eventIds: [id] })),
      ...[1, 2, 3].map(() => organization.api.post('/api/deliveries/bulk', { action: 'replay', eventId: id })),
      ...[1, 2, 3].map(
        async () => (await organization.api.request('POST', `/api/deliveries/${failed.id}/replay`)).body,
      ),
    ]);
    expect(answers).to.have.length(12);
    expect(await deliveriesOf(organization, id)).to.have.length(2);
    await endAll(id);
    expect(await organization.api.get(`${events}/${id}`)).to.include({ status: 'delivered', deliveriesCount: 1 });
  });

  it('goes to chosen destinations only', async () => {
    const source = await makeSource(organization);
    const [a, b] = [await makeDestination(organization), await makeDestination(organization)];
    await makeRoute(organization, source.id, [a.id, b.id]);
    const id = await ingest(organization, source, '{}');
    await endAll(id);
    expect(await organization.api.post(`${events}/${id}/replay`, { destinationIds: [b.id] })).to.include({
      deliveriesCreated: 1,
    });
    const deliveries = await organization.api.list(`/api/deliveries?eventId=${id}&destinationId=${b.id}`);
    expect(deliveries.pagination.total).to.equal(2);
    for (const destinationIds of [['dst_unknown'], [pipeline.destination.id], []]) {
      const answer = await organization.api.request('POST', `${events}/${id}/replay`, { destinationIds });
      expectInvalid(answer, 'destinationIds');
    }
  });

  it('replays many and ignores unknown ids', async () => {
    const ids = [await ingest(organization, pipeline.source, '{}'), await ingest(organization, pipeline.source, '{}')];
    const eventIds = [...ids, 'evt_unknown', 'x'];
    for (const id of ids) await endAll(id);
    const result = await organization.api.post(`${events}/bulk/replay`, { eventIds });
    expect(result).to.include({ eventsQueued: 2, deliveriesCreated: 2 });
    expect(result.message).to.be.a('string').that.is.not.empty;
    expectInvalid(await organization.api.request('POST', `${events}/bulk/replay`, { eventIds: [] }), 'eventIds');
  });
});
