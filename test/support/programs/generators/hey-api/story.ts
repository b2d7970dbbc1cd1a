// A webhook from source to receiver and a replay, with the client that @hey-api/openapi-ts makes.
import { client } from './made/client.gen';
import {
  createDestination,
  createRoute,
  createSource,
  getCaller,
  getEvent,
  listDeliveries,
  listEvents,
  receive,
  replayEvent,
} from './made/sdk.gen';

const { HOOKYARD_URL = '', HOOKYARD_API_KEY = '', RECEIVER = '' } = process.env;
const throwOnError = true;

async function story(): Promise<void> {
  client.setConfig({ baseUrl: HOOKYARD_URL, auth: () => HOOKYARD_API_KEY });
  const caller = (await getCaller({ throwOnError })).data;
  const { id: orgId, slug: orgSlug } = caller.organization;
  const source = (await createSource({ throwOnError, path: { orgId }, body: { name: 'Hey', slug: 'hey' } })).data;
  const destination = (await createDestination({ throwOnError, body: { name: 'Hey', url: RECEIVER } })).data;
  const route = { name: 'Hey', sourceId: source.id, destinationIds: [destination.id] };
  await createRoute({ throwOnError, body: route });

  const body = new Blob(['{"by":"hey-api"}']);
  const accepted = (await receive({ throwOnError, path: { orgSlug, sourceSlug: source.slug }, body })).data;
  if (!('eventId' in accepted)) throw new Error('there is no event');
  await delivered(orgId, accepted.eventId);

  const list = (await listEvents({ throwOnError, path: { orgId }, query: { status: ['delivered', 'pending'] } })).data;
  const replay = (await replayEvent({ throwOnError, path: { orgId, id: accepted.eventId }, body: {} })).data;
  const parts = (await listDeliveries({ throwOnError, query: { eventId: accepted.eventId, cursor: 'first' } })).data;
  const refused = await getEvent({ path: { orgId, id: 'evt_none' } });
  console.log(JSON.stringify([list.data.length, replay.deliveriesCreated, parts.data.length, refused.error?.code]));
}

async function delivered(orgId: string, id: string): Promise<void> {
  for (;;) {
    const event = (await getEvent({ throwOnError, path: { orgId, id } })).data;
    if (event.status === 'delivered') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

story().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
