import { expect } from 'chai';
import { pause, routePath } from '../support/workflows/pauses.ts';
import type { Endpoint } from '../support/receiver.ts';
import { onceMore, type Records } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const BODY = '{"order":1,"card":"4111111111111111"}';
const MASKED = '{"order":1,"card":"masked"}';
const MASK = 'export default ({ payload }) => ({ ...payload, card: "masked" })';
const KEEPS_CARD = 'export default ({ payload }) => payload';

type Pipe = Awaited<ReturnType<Records['pipe']>> & { transformId: string };

describe('what a delivery keeps of its route', () => {
  const { testInstance, records, receiver } = useHookyard();

  async function masking(endpoint: Endpoint, route: object = {}, retries = 1): Promise<Pipe> {
    const { client } = testInstance;
    const transform = { name: 'Mask', type: 'javascript', code: MASK };
    const { id: transformId } = await client.create<{ id: string }>('/api/transforms', transform);
    const fields = {
      route: { name: `Masked ${transformId}`, transformId, ...route },
      destination: { retryPolicy: onceMore(retries) },
    };
    return { ...(await records.pipe(endpoint.url, fields)), transformId };
  }
  const bodiesOf = ({ requests }: Endpoint) => requests.map(({ body }) => body.toString());
  const remove = async (path: string) =>
    expect((await testInstance.client.request('DELETE', path)).status).to.equal(204);
  const replay = (deliveryId: string) =>
    testInstance.client.post<{ deliveryId: string }>(`/api/deliveries/${deliveryId}/replay`);
  const ended = (deliveryId: string) =>
    until(`${deliveryId} to end`, async () => {
      const delivery = await records.delivery(deliveryId);
      return ['delivered', 'failed', 'schema_failed'].includes(delivery.status) && delivery;
    });
  async function replayed(deliveryId: string) {
    return ended((await replay(deliveryId)).deliveryId);
  }

  const changes: [what: string, change: (pipe: Pipe) => Promise<unknown>][] = [
    [
      'the route is deleted, and then its transform',
      async ({ route, transformId }) => {
        await remove(routePath(route));
        await remove(`/api/transforms/${transformId}`);
      },
    ],
    [
      'the route loses its transform, which is deleted',
      async ({ route, transformId }) => {
        await testInstance.client.patch(routePath(route), { transformId: null });
        await remove(`/api/transforms/${transformId}`);
      },
    ],
    [
      'the transform is changed',
      ({ transformId }) => testInstance.client.patch(`/api/transforms/${transformId}`, { code: KEEPS_CARD }),
    ],
    [
      'an import overwrites the route',
      async ({ route, source, destination, transformId }) => {
        const item = { name: `Masked ${transformId}`, sourceSlug: source.slug, destinationSlugs: [destination.slug] };
        const result = await testInstance.client.post<{ overwritten: number }>('/api/routes/import', {
          routes: [item],
          conflictStrategy: 'overwrite',
        });
        expect(result.overwritten).to.equal(1);
        expect(await testInstance.client.get(routePath(route))).to.include({ transformId: null });
      },
    ],
  ];
  for (const [what, change] of changes) {
    it(`sends the same with the next attempt when ${what} after the first`, async () => {
      const answered = Promise.withResolvers<void>();
      const endpoint = receiver.endpoint({ status: 500, after: answered.promise }, 200);
      const pipe = await masking(endpoint);
      const eventId = await records.accepted(pipe.source, BODY);
      await until('the first attempt', () => endpoint.requests.length === 1);
      await change(pipe);
      answered.resolve();
      await records.eventWith('delivered', eventId);
      expect(bodiesOf(endpoint)).to.deep.equal([MASKED, MASKED]);
    });
  }

  it('sends what the transform makes when a paused route is deleted, now and as a replay', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, route, transformId } = await masking(endpoint);
    await pause(testInstance, routePath(route));
    const eventId = await records.accepted(source, BODY);
    await until('the delivery to be held', async () => (await records.deliveries(eventId))[0]?.holdReason);
    await remove(routePath(route));
    const { id } = await records.deliveryWith('delivered', eventId);
    await remove(`/api/transforms/${transformId}`);
    expect(await replayed(id)).to.include({ status: 'delivered' });
    expect(bodiesOf(endpoint)).to.deep.equal([MASKED, MASKED]);
  });

  it('replays by the transform and the expected response that the route has now', async () => {
    const endpoint = receiver.endpoint({ status: 200, body: 'queued' });
    const { source, route, transformId } = await masking(endpoint, { expectedResponse: { bodyContains: 'stored' } }, 0);
    const eventId = await records.accepted(source, BODY);
    const { id } = await records.deliveryWith('failed', eventId);
    await testInstance.client.patch(`/api/transforms/${transformId}`, {
      code: 'export default ({ payload }) => ({ order: payload.order })',
    });
    await testInstance.client.patch(routePath(route), { expectedResponse: null });
    expect(await replayed(id)).to.include({ status: 'delivered' });
    expect(bodiesOf(endpoint)).to.deep.equal([MASKED, '{"order":1}']);
  });

  it('does not replay what the schema of a deleted route refused', async () => {
    const { client } = testInstance;
    const endpoint = receiver.endpoint(200);
    const { id: schemaId } = await client.create<{ id: string }>('/api/schemas', {
      name: 'Order',
      schema: { required: ['customer'] },
    });
    const { source, route } = await masking(endpoint, { schemaId });
    const { id } = await records.deliveryWith('schema_failed', await records.accepted(source, BODY));
    await remove(routePath(route));
    const again = await replayed(id);
    expect(again).to.include({ status: 'schema_failed' });
    await remove(`/api/schemas/${schemaId}`);
    const refused = await replayed(again.id);
    expect(refused).to.include({ status: 'schema_failed' });
    expect(refused.error).to.match(/route and its schema were deleted/);
    expect(endpoint.requests).to.have.length(0);
  });

  for (const lost of ['route', 'transform'] as const) {
    it(`ends a delivery as failed when the version of its ${lost} is not kept any more`, async () => {
      const endpoint = receiver.endpoint(200);
      const { source, route, destination, transformId } = await masking(endpoint);
      // No worker has read the version, which it may keep.
      const destinationPath = `/api/destinations/${destination.id}`;
      await testInstance.client.patch(destinationPath, { enabled: false });
      const { id } = await records.deliveryWith('skipped', await records.accepted(source, BODY));
      await testInstance.client.patch(destinationPath, { enabled: true });
      await remove(routePath(route));
      await remove(`/api/transforms/${transformId}`);
      await execute(testInstance.pool)`delete from earlier_versions
        where record_id = ${lost === 'route' ? route.id : transformId}`;
      const failed = await replayed(id);
      expect(failed).to.include({ status: 'failed', attemptCount: 0 });
      expect(failed.error).to.match(
        new RegExp(`^The ${lost} was changed or deleted, and the version .* is no longer available`),
      );
      expect(endpoint.requests).to.have.length(0);
    });
  }

  it('sends nothing once the source is deleted', async () => {
    const answered = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ status: 500, after: answered.promise }, 200);
    const { source } = await masking(endpoint);
    const eventId = await records.accepted(source, BODY);
    await until('the first attempt', () => endpoint.requests.length === 1);
    const [delivery] = await records.deliveries(eventId);
    await remove(`${testInstance.base}/sources/${source.id}`);
    answered.resolve();
    await records.workflowsEnd([delivery?.id ?? '']);
    for (const body of bodiesOf(endpoint)) expect(body).to.equal(MASKED);
  });
});
