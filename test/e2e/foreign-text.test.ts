// Text that others wrote and that PostgreSQL or Temporal cannot hold: NUL, halves of surrogate pairs, and far too much
// of it. It is shown as far as that goes, and keeps nothing from continuing.
import { expect } from 'chai';
import { inExpressLane, onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { expectEachOnce, makePipe, useStore } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const UNKNOWN = `export default ({ payload }) => {
  if (payload.type !== 'known') throw new Error('unknown ' + payload.type);
  return payload;
}`;

describe('text that cannot be stored', () => {
  const { testInstance, records, receiver } = useHookyard();

  const transform = (code = UNKNOWN) =>
    testInstance.client.create<{ id: string }>('/api/transforms', { name: 'Reshape', type: 'javascript', code });

  for (const [what, type, shown] of [
    ['NUL', 'a\\u0000b', 'a\ufffdb'],
    ['half of a surrogate pair', 'a\\ud800b', 'a\ufffdb'],
  ] as const) {
    it(`in the error of a transform (${what}) ends the delivery, and the place it had is free`, async () => {
      const endpoint = receiver.endpoint(200);
      const { id: transformId } = await transform();
      const { source } = await records.pipe(endpoint.url, {
        route: { transformId },
        destination: { retryPolicy: onceMore(5) },
      });
      const bad = await records.accepted(source, `{"type":"${type}"}`);
      const failed = await records.deliveryWith('failed', bad);
      expect(failed.error).to.match(new RegExp(`^The transform Reshape failed: Error: unknown ${shown} `));
      expect(await records.queued()).to.equal(0);
      await records.eventWith('delivered', await records.accepted(source, '{"type":"known"}'));
      expect(endpoint.requests).to.have.length(1);
    });
  }

  it('in what a destination answers is recorded, and the attempt counts once', async () => {
    const endpoint = receiver.endpoint({ status: 500, body: 'no\0\ud800' });
    const { delivery } = await records.deliver(endpoint.url, '{}', 'failed');
    expect(delivery.attempts[0]?.responseBody).to.equal('no\ufffd\ufffd');
    expect(endpoint.requests).to.have.length(1);
  });

  it('or read: a delivery whose attempt cannot even be made holds no place for ever, and is made when it can be', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { authType: 'bearer', authConfig: { token: 'secret' } },
    });
    const seal = 'update destinations set auth_config = $2, version = version + 1 where id = $1';
    const rows = await selectRows<{ sealed: string }>(testInstance.pool)`select auth_config as sealed from destinations
      where id = ${destination.id}`;
    await testInstance.pool.query(seal, [destination.id, 'v1.unknown.AAAA']);
    const eventId = await records.accepted(source, '{}');
    await until('its workflow to have it', async () => {
      const [delivery] = await records.deliveries(eventId);
      return (await records.workflowStatus(delivery?.id ?? '')) === 'RUNNING';
    });
    if (inExpressLane) await until('its place to be free', async () => (await records.queued()) === 0);
    expect(await records.deliveryWith('pending', eventId)).to.include({ attemptCount: 0 });
    await testInstance.pool.query(seal, [destination.id, rows[0]?.sealed]);
    await records.eventWith('delivered', eventId);
    expect(endpoint.requests).to.have.length(1);
  });

  describe('in a batch of a warehouse', () => {
    const store = useStore();

    it('fails the events it is about, and the others are written', async () => {
      const { id: transformId } = await transform();
      const pipe = await makePipe(testInstance, store, { route: { transformId } });
      const bodies = ['{"type":"known"}', '{"type":"a\\u0000b"}', '{"type":"\\udc00"}', '{"type":"known"}'];
      const ids = await pipe.send(bodies);
      const [first = '', nul = '', half = '', last = ''] = ids;
      expectEachOnce(await pipe.rows(2), [first, last]);
      expect((await records.deliveryWith('failed', nul)).error).to.include('unknown a\ufffdb');
      expect((await records.deliveryWith('failed', half)).error).to.include('unknown \ufffd');
    });
  });
});
