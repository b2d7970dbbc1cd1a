// npm run bench -- disk [--events 10000]: how much disk an event takes. Webhooks come in and are delivered on the real way; then
// the sizes of tables and indexes are read, and divided by what was added.
import { createHmac } from 'node:crypto';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import type { Stack } from '../../local/stack.ts';
import type { BenchOptions } from '../support/options.ts';
import { saveResults } from '../support/save.ts';
import { createPipe, drained, quiet, SECRET, type Service, startService } from '../support/service.ts';
import { type Receiver, sendMany } from '../support/traffic.ts';
import { fileOf, orderOf } from './payloads.ts';
import { otherDatabases, perRow, readSizes, type Sizes, sumOf } from './sizes.ts';

const KIB = 1024;
const PAYLOADS = [
  { name: 'JSON of 1 KiB', body: () => orderOf(KIB) },
  { name: 'JSON of 10 KiB', body: () => orderOf(10 * KIB) },
  { name: '10 KiB that cannot be compressed', body: () => fileOf(10 * KIB) },
];
const TABLES = ['events', 'event_payloads', 'deliveries', 'attempts'];
const VACUUM_TIMEOUT_MS = 600_000;
// The lane `workflow` makes tens of deliveries in a second.
const EVENTS_PER_WORKFLOW = 10;

interface Phase {
  payload: string;
  /** Mean size of a body, bytes. */
  bytes: number;
  sizes: Sizes;
}

export async function measureDisk(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: VACUUM_TIMEOUT_MS, onError: () => {} });
  try {
    const phases = await measureOwn(stack, pool, receiver, options);
    const temporal = await measureTemporal(stack, pool, receiver, Math.ceil(options.events / EVENTS_PER_WORKFLOW));
    console.log(report(phases, temporal, options.events));
    if (options.save) {
      const plain = phases.map(({ sizes, ...phase }) => ({
        ...phase,
        tables: Object.fromEntries([...sizes].map(([table, parts]) => [table, Object.fromEntries(parts)])),
      }));
      saveResults('disk', { events: options.events, perEvent: plain, temporalPerWorkflow: temporal });
    }
  } finally {
    await pool.end();
  }
}

/** Hookyard's own tables: each kind of payload in turn. */
async function measureOwn(stack: Stack, pool: Pool, receiver: Receiver, { events }: BenchOptions): Promise<Phase[]> {
  const service = await startService(stack, { HOOKYARD_LANE: 'express' });
  const phases: Phase[] = [];
  try {
    const { webhookUrl } = await createPipe(service, receiver.url);
    // So that no table and no index is empty, whose first pages count for nothing.
    await sendAll(service, webhookUrl, PAYLOADS[0]?.body ?? (() => '{}'), 500);
    let before = await readSizes(pool);
    for (const { name, body } of PAYLOADS) {
      const bytes = await sendAll(service, webhookUrl, body, events);
      const after = await readSizes(pool);
      phases.push({ payload: name, bytes: bytes / events, sizes: perRow(before, after, events) });
      before = after;
    }
  } finally {
    await service.stop();
  }
  return phases;
}

/** @returns bytes in Temporal's databases for each delivery that is a workflow */
async function measureTemporal(stack: Stack, pool: Pool, receiver: Receiver, count: number): Promise<number> {
  const service = await startService(stack, { HOOKYARD_LANE: 'workflow' });
  try {
    const { webhookUrl } = await createPipe(service, receiver.url);
    await sendAll(service, webhookUrl, () => orderOf(KIB), 100);
    await quiet(service);
    const before = await otherDatabases(pool);
    await sendAll(service, webhookUrl, () => orderOf(KIB), count);
    await quiet(service);
    return ((await otherDatabases(pool)) - before) / count;
  } finally {
    await service.stop();
  }
}

/** Sends webhooks with bodies of their own and waits until all are delivered. @returns the size of all bodies together */
async function sendAll(service: Service, webhookUrl: string, bodyOf: () => string, count: number): Promise<number> {
  let bytes = 0;
  await sendMany(async () => {
    const body = bodyOf();
    bytes += Buffer.byteLength(body);
    const answer = await fetch(webhookUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      },
      body,
    });
    if (answer.status !== 200) throw new Error(`ingest answered ${answer.status}`);
    await answer.arrayBuffer();
  }, count);
  await drained(service, count);
  return bytes;
}

function report(phases: Phase[], temporal: number, events: number): string {
  const lines = ['', `bytes per row, after ${events} events with one delivery and one attempt each`];
  const [first] = phases;
  for (const table of TABLES.filter((name) => name !== 'event_payloads')) {
    lines.push(...tableLines(table, first?.sizes.get(table)));
  }
  for (const { payload, bytes, sizes } of phases) {
    lines.push(...tableLines(`event_payloads, ${payload} (${Math.round(bytes)} bytes)`, sizes.get('event_payloads')));
  }
  const others = [...(first?.sizes ?? [])].filter(([table]) => !TABLES.includes(table));
  const other = others.reduce((sum, [, parts]) => sum + sumOf(parts), 0);
  lines.push(line('statistics, counts, outbox and all else', other), '', 'a million events with one delivery each');
  for (const { payload, sizes } of phases) {
    const payloads = sumOf(sizes.get('event_payloads'));
    const rest = TABLES.reduce((sum, table) => sum + sumOf(sizes.get(table)), 0) - payloads;
    lines.push(`  ${payload.padEnd(50)}${gb(payloads + rest)}, of which payloads ${gb(payloads)}`);
  }
  lines.push(
    '',
    "in Temporal's databases, for each delivery that is a workflow, for 3 days",
    line('histories and visibility', temporal),
    '',
  );
  return lines.join('\n');
}

function tableLines(table: string, parts: Map<string, number> | undefined): string[] {
  const each = [...(parts ?? [])].filter(([, bytes]) => bytes >= 0.5).toSorted((a, b) => b[1] - a[1]);
  return [line(table, sumOf(parts)), ...each.map(([part, bytes]) => line(`  ${part}`, bytes))];
}

const line = (what: string, bytes: number): string => `  ${what.padEnd(66)}${Math.round(bytes).toString().padStart(7)}`;
const gb = (bytesEach: number): string => `${((bytesEach * 1e6) / 1e9).toFixed(2)} GB`;
