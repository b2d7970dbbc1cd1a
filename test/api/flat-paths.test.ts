// Sources and events without their organization in the path: /api/sources and /api/events are the same operations, on
// the organization of the key.
import { expect } from 'chai';
import { createClient, expectError, expectInvalid } from '../support/api-client.ts';
import {
  deliveriesOf,
  ingest,
  makeDestination,
  makeRoute,
  recordAttempt,
  type SourceRecord,
} from '../support/api-records.ts';
import { useOrganization } from '../support/use-hookyard.ts';

interface EventRecord {
  id: string;
  status: string;
}

describe('The flat paths of sources and events', () => {
  const organization = useOrganization();

  it('tell the whole story: declare, list, receive, look, replay, change and delete', async () => {
    const { api, base } = organization;
    const made = await api.create<SourceRecord>('/api/sources', { name: 'Shop', slug: 'shop' });
    expect(await api.get(`/api/sources/${made.id}`)).to.deep.equal(await api.get(`${base}/sources/${made.id}`));
    const declared = await api.request('PUT', '/api/sources/by-slug/shop', { name: 'The shop', allowPaths: true });
    expect([declared.status, declared.body.id, declared.body.name]).to.deep.equal([200, made.id, 'The shop']);
    const other = await api.request<SourceRecord>('PUT', '/api/sources/by-slug/other', { name: 'Other' });
    expect(other.status).to.equal(201);
    const { data, pagination } = await api.list<SourceRecord>('/api/sources?search=shop&pageSize=1');
    expect([data.map(({ id }) => id), pagination]).to.deep.equal([[made.id], { total: 1, page: 1, pageSize: 1 }]);

    const destination = await makeDestination(organization);
    await makeRoute(organization, made.id, [destination.id]);
    const eventId = await ingest(organization, made, '{"order":42}');
    const listed = await api.list<EventRecord>(`/api/events?sourceId=${made.id}`);
    expect(listed.data.map(({ id }) => id)).to.deep.equal([eventId]);
    expect(listed).to.deep.equal(await api.list(`${base}/events?sourceId=${made.id}`));
    const event = await api.get(`/api/events/${eventId}?includePayload=true&includeDeliveries=true`);
    expect(event).to.deep.include({ id: eventId, payload: { order: 42 }, deliveriesCount: 1 });
    const raw = await fetch(`${api.url}/api/events/${eventId}/payload`, {
      headers: { Authorization: `Bearer ${organization.token}` },
    });
    expect([raw.status, await raw.text()]).to.deep.equal([200, '{"order":42}']);
    expect(await api.get(`/api/events/${eventId}/timeline`)).to.include.keys('received', 'deliveries');

    const end = async () => {
      const open = (await deliveriesOf(organization, eventId)).find(({ status }) => status === 'pending');
      await recordAttempt({ eventId, deliveryId: open?.id ?? '' });
    };
    await end();
    const replayed = await api.post(`/api/events/${eventId}/replay`, { destinationIds: [destination.id] });
    expect(replayed).to.include({ deliveriesCreated: 1 });
    await end();
    const bulk = await api.post('/api/events/bulk/replay', { eventIds: [eventId] });
    expect(bulk).to.include({ eventsQueued: 1, deliveriesCreated: 1 });
    const counted = await api.post('/api/events/replay', { sourceId: made.id, dryRun: true });
    expect(counted).to.include({ dryRun: true, eventsTotal: 1 });

    await api.patch(`/api/sources/${made.id}`, { enabled: false });
    expect(await api.get(`${base}/sources/${made.id}`)).to.include({ enabled: false });
    await api.delete(`/api/events/${eventId}`);
    await api.delete(`/api/sources/${made.id}`);
    expectError(await api.request('GET', `/api/sources/${made.id}`), 404, 'RESOURCE_NOT_FOUND');
    expectError(await api.request('GET', `/api/events/${eventId}`), 404, 'RESOURCE_NOT_FOUND');
  });

  it('refuse what the others refuse', async () => {
    const { api } = organization;
    const taken = { name: 'Taken', slug: 'taken' };
    await api.create('/api/sources', taken);
    expectError(await api.request('POST', '/api/sources', taken), 409, 'DUPLICATE_SLUG');
    expectInvalid(await api.request('GET', '/api/events?status=lost'), 'status');
    expectInvalid(await api.request('POST', '/api/events/bulk/replay', { eventIds: [] }), 'eventIds');
    const anonymous = createClient(api.url, null);
    for (const path of ['/api/sources', '/api/events', '/api/events/evt_1'])
      expectError(await anonymous.request('GET', path), 401, 'UNAUTHORIZED');
  });
});
