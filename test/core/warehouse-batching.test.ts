import { expect } from 'chai';
import { type BatchPlan, fullLook, planBatch, quickLook, type WaitingDelivery } from '../../core/warehouse/batching.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const KIB = 1024;
const BATCH_BYTES = 5 * 1024 * KIB;
const rule = { batchSize: 10, batchBytes: BATCH_BYTES, batchWindowMs: 60_000 };

let made = 0;

function waiting(count: number, fields: Partial<WaitingDelivery> = {}): WaitingDelivery[] {
  return Array.from({ length: count }, () => ({
    deliveryId: `dlv_${++made}`,
    partition: 'date=2026-11-21',
    bytes: KIB,
    receivedAt: NOW,
    since: NOW - 1000,
    ...fields,
  }));
}

const plan = (deliveries: WaitingDelivery[], isAll = true) => planBatch(deliveries, rule, { nowMs: NOW, isAll });

function due(result: BatchPlan | null): WaitingDelivery[] {
  if (result?.kind !== 'due') throw new Error(`it is ${result?.kind}`);
  return result.members;
}

describe('warehouse batches', () => {
  it('wait until there are enough events, and say how many are missing and for how long', () => {
    expect(plan(waiting(9))).to.deep.equal({
      kind: 'filling',
      batches: [{ partition: 'date=2026-11-21', events: 9, bytes: 9 * KIB }],
      waitMs: 59_000,
      neededEvents: 1,
      neededBytes: BATCH_BYTES - 9 * KIB,
    });
    const ten = waiting(10);
    expect(due(plan(ten))).to.deep.equal(ten);
  });

  it('take no more than enough events, the first ones', () => {
    const many = waiting(25);
    expect(due(plan(many))).to.deep.equal(many.slice(0, 10));
  });

  it('are written when they have enough bytes, and take no more', () => {
    const three = waiting(3, { bytes: 2 * 1024 * KIB });
    expect(due(plan(three))).to.deep.equal(three.slice(0, 2));
    const exact = waiting(5, { bytes: 1024 * KIB });
    expect(due(plan(exact))).to.deep.equal(exact);
  });

  it('are as large as the destination says', () => {
    const at = (batchBytes: number) =>
      planBatch(waiting(9, { bytes: 16 * 1024 * KIB }), { ...rule, batchBytes }, { nowMs: NOW, isAll: true });
    expect(due(at(128 * 1024 * KIB))).to.have.lengthOf(8);
    expect(due(at(1))).to.have.lengthOf(1);
  });

  it('hold a single event that is larger than all that', () => {
    const large = waiting(2, { bytes: 2 * BATCH_BYTES });
    expect(due(plan(large))).to.deep.equal(large.slice(0, 1));
  });

  it('are written when the first event has waited for the window', () => {
    const [old, young] = [waiting(1, { since: NOW - 60_000 }), waiting(1)];
    expect(due(plan([...young, ...old]))).to.have.lengthOf(2);
    expect(plan(waiting(1, { since: NOW - 59_999 }))).to.include({ kind: 'filling', waitMs: 1 });
  });

  it('do not wait for longer than a window when another clock is ahead', () => {
    expect(plan(waiting(1, { since: NOW + 3_600_000 }))).to.include({ kind: 'filling', waitMs: 60_000 });
  });

  it('never mix partitions', () => {
    const [orders, users] = [waiting(7, { partition: 'orders' }), waiting(9, { partition: 'users' })];
    expect(plan([...orders, ...users])).to.deep.include({
      kind: 'filling',
      batches: [
        { partition: 'orders', events: 7, bytes: 7 * KIB },
        { partition: 'users', events: 9, bytes: 9 * KIB },
      ],
      neededEvents: 1,
    });
    const more = waiting(1, { partition: 'users' });
    expect(due(plan([...orders, ...users, ...more]))).to.deep.equal([...users, ...more]);
  });

  it('begin with the partition that has waited the longest', () => {
    const first = waiting(1, { partition: 'users', since: NOW - 70_000 });
    const later = waiting(10, { partition: 'orders', since: NOW - 65_000 });
    expect(due(plan([...later, ...first]))).to.deep.equal(first);
  });

  it('look further when the first deliveries do not fill one, and decide by then', () => {
    const mixed = (count: number) =>
      Array.from({ length: count }, (_, index) => waiting(1, { partition: `source ${index % 30}` })).flat();
    expect(quickLook(rule)).to.equal(10);
    expect(plan(mixed(10), false)).to.equal(null);
    expect(fullLook(rule)).to.equal(100);
    const full = [...mixed(95), ...waiting(5, { partition: 'source 3' })];
    expect(due(plan(full, false)).map(({ partition }) => partition)).to.deep.equal(Array(9).fill('source 3'));
  });

  it('look at a bounded number of deliveries', () => {
    expect(fullLook({ ...rule, batchSize: 10_000 })).to.equal(20_000);
    expect(fullLook({ ...rule, batchSize: 1 })).to.equal(10);
  });
});
