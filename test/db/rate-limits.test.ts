import { expect } from 'chai';
import { reserveSlot } from '../../db/delivery/rate-limits.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute, selectValue } from '../support/database/sql.ts';

const MINUTE_MS = 60_000;

describe('slots of a rate limit', () => {
  const { testInstance, records } = useHookyard();
  let destinationId: string;
  beforeEach(async () => {
    destinationId = (await records.destination('http://127.0.0.1:9/')).id;
  });

  /** How far the next slot is, ms; null when there is none in time. */
  const inMs = async (...args: Parameters<typeof reserveSlot>) => (await reserveSlot(...args))?.inMs ?? null;
  const nextAt = () =>
    selectValue<number>(testInstance.pool)`select extract(epoch from next_at)::float8 * 1000 as ms
      from rate_limits where destination_id = ${destinationId}`;

  it('are one emission interval apart, from now on', async () => {
    expect(await inMs(testInstance.pool, destinationId, 60, MINUTE_MS)).to.be.within(0, 1);
    const before = await nextAt();
    expect(await inMs(testInstance.pool, destinationId, 60, MINUTE_MS)).to.be.within(0, 1000);
    expect((await nextAt()) - before).to.be.closeTo(1000, 0.01);
  });

  it('are not given beyond the time asked for', async () => {
    await reserveSlot(testInstance.pool, destinationId, 1, 0);
    expect(await inMs(testInstance.pool, destinationId, 1, MINUTE_MS / 2)).to.equal(null);
    expect(await inMs(testInstance.pool, destinationId, 1, MINUTE_MS)).to.be.within(MINUTE_MS / 2, MINUTE_MS);
  });

  it('are never given twice, however many workers reserve at once', async () => {
    await reserveSlot(testInstance.pool, destinationId, 600, MINUTE_MS);
    const before = await nextAt();
    const slots = await Promise.all(
      Array.from({ length: 200 }, () => reserveSlot(testInstance.pool, destinationId, 600, MINUTE_MS)),
    );
    expect(slots).to.not.include(null);
    expect((await nextAt()) - before).to.be.closeTo(200 * 100, 0.1);
  });

  it('do not pile up while nothing is sent: a pause gives no burst', async () => {
    await reserveSlot(testInstance.pool, destinationId, 60, MINUTE_MS);
    await execute(testInstance.pool)`update rate_limits set next_at = next_at - interval '1 hour'
      where destination_id = ${destinationId}`;
    expect(await inMs(testInstance.pool, destinationId, 60, 0)).to.equal(0);
    expect(await inMs(testInstance.pool, destinationId, 60, 0)).to.equal(null);
  });

  it('start again when the limit is changed', async () => {
    await reserveSlot(testInstance.pool, destinationId, 1, 0);
    expect(await inMs(testInstance.pool, destinationId, 1, 0)).to.equal(null);
    await testInstance.client.patch(`/api/destinations/${destinationId}`, { rateLimitPerMinute: 60 });
    expect(await inMs(testInstance.pool, destinationId, 60, 0)).to.be.within(0, 1);
  });
});
