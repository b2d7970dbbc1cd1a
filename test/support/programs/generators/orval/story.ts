// A webhook from source to receiver and a replay, with the client that orval makes.
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
} from './made';

const { HOOKYARD_API_KEY = '', RECEIVER = '' } = process.env;
const options = { headers: { Authorization: `Bearer ${HOOKYARD_API_KEY}` } };

/** What was answered, of the status that is expected. */
function of<Answer extends { status: number }, Status extends Answer['status']>(answer: Answer, status: Status) {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${JSON.stringify(answer)}`);
  return answer as Extract<Answer, { status: Status }>;
}

async function story(): Promise<void> {
  const caller = of(await getCaller(options), 200).data;
  const { id: orgId, slug: orgSlug } = caller.organization;
  const source = of(await createSource(orgId, { name: 'Orval', slug: 'orval' }, options), 201).data;
  const destination = of(await createDestination({ name: 'Orval', url: RECEIVER }, options), 201).data;
  const route = { name: 'Orval', sourceId: source.id, destinationIds: [destination.id] };
  of(await createRoute(route, options), 201);

  const body = new Blob(['{"by":"orval"}']);
  const accepted = of(await receive(orgSlug, source.slug, body), 200).data;
  if (!('eventId' in accepted)) throw new Error('there is no event');
  await delivered(orgId, accepted.eventId);

  const list = of(await listEvents(orgId, { status: ['delivered', 'pending'] }, options), 200).data;
  const replay = of(await replayEvent(orgId, accepted.eventId, {}, options), 200).data;
  const parts = of(await listDeliveries({ eventId: accepted.eventId, cursor: 'first' }, options), 200).data;
  const refused = of(await getEvent(orgId, 'evt_none', undefined, options), 404).data;
  console.log(JSON.stringify([list.data.length, replay.deliveriesCreated, parts.data.length, refused.code]));
}

async function delivered(orgId: string, id: string): Promise<void> {
  for (;;) {
    const event = of(await getEvent(orgId, id, undefined, options), 200).data;
    if (event.status === 'delivered') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

story().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
