// npm run bench -- transforms: what one run of a transform takes for an event of 1 KiB, the way through the thread included.
import { createTransforms, type TransformEvent } from '../outbound/transforms/index.ts';
import type { TransformType } from '../core/transform-types.ts';
import { percentiles } from './support/measure.ts';
import { undisturbed } from './support/undisturbed.ts';

const WARM_UP_RUNS = 200;
const RUNS = 2000;

/** Two usual shapes of work: picking members, and going through the 15 lines of an order. */
const codes: [type: TransformType, what: string, code: string][] = [
  [
    'javascript',
    'members',
    'export default ({ payload: { order } }) => ({ id: order.id, currency: order.currency, first: order.lines[0].sku });',
  ],
  [
    'javascript',
    'lines',
    'export default ({ payload: { order } }) => ({ id: order.id, total: order.lines.reduce((sum, line) => sum + line.price * line.quantity, 0) });',
  ],
  [
    'jsonata',
    'members',
    '{ "id": payload.order.id, "currency": payload.order.currency, "first": payload.order.lines[0].sku }',
  ],
  ['jsonata', 'lines', '{ "id": payload.order.id, "total": $sum(payload.order.lines.(price * quantity)) }'],
  [
    'liquid',
    'members',
    '{"id": {{ payload.order.id | json }}, "currency": {{ payload.order.currency | json }}, "first": {{ payload.order.lines[0].sku | json }}}',
  ],
  [
    'liquid',
    'lines',
    'Order {{ payload.order.id }}: {% for line in payload.order.lines %}{{ line.quantity }} x {{ line.sku }}, {% endfor %}',
  ],
];

/** Runs each of them, one event after the other, and prints the figures. */
export async function measureTransforms(): Promise<void> {
  const transforms = createTransforms(2, async () => Number.POSITIVE_INFINITY);
  const event = orderEvent();
  console.log(`${RUNS} runs each, one after the other, of an event of ${event.body.byteLength} bytes`);
  for (const [type, what, code] of codes) {
    const transform = { key: `${type}:${what}`, type, code, outputContentType: null };
    const measure = async () => {
      const times: number[] = [];
      for (let run = 0; run < WARM_UP_RUNS + RUNS; run += 1) {
        const startedAt = performance.now();
        const result = await transforms.run(transform, event, 'bench');
        if (!result.ok) throw new Error(`${type}: ${result.problem.message}`);
        if (run >= WARM_UP_RUNS) times.push(performance.now() - startedAt);
      }
      return times;
    };
    const times = await undisturbed(`${type} ${what}`, {}, measure);
    const { p50, p95, p99 } = percentiles(times, 2);
    console.log(`${type.padEnd(10)} ${what.padEnd(7)}  p50 ${p50} ms  p95 ${p95} ms  p99 ${p99} ms`);
  }
  await transforms.close();
}

function orderEvent(): TransformEvent {
  const lines = Array.from({ length: 15 }, (_, n) => ({
    sku: `sku-${1000 + n}`,
    quantity: n + 1,
    price: 9.5,
    name: 'Cup, white',
  }));
  return {
    id: 'evt_06f3k2v8q0e7',
    source: 'orders',
    method: 'POST',
    path: '',
    query: '',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ order: { id: 'ord_4711', currency: 'EUR', lines } })),
    receivedAt: new Date('2026-01-02T03:04:05.678Z'),
  };
}
