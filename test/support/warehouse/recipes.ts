// What tests of docs/guide/warehouse-recipes.md share: the code of a section, and files that come in two parts, a
// replay in the second.
import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WarehouseEvent } from '../../../core/warehouse/rows.ts';
import {
  type Compression,
  type FileFormat,
  type FileSink,
  MAX_ROW_BYTES,
  objectKey,
} from '../../../core/warehouse/files-and-keys.ts';
import type { Threads } from '../../../outbound/threads/index.ts';
import { openFile } from '../../../outbound/warehouses/files.ts';
import { KeptFile } from '../requests/kept-file.ts';
import { oddPayloads } from '../attacks/odd-payloads.ts';
import { runRecipe, type Step } from './readers.ts';

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'guide', 'warehouse-recipes.md');
const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The code of a section of an engine. @throws Error that names both */
export function sectionOf(engine: string, title: string): string {
  const page = readFileSync(PAGE, 'utf8');
  const [, ofEngine = ''] = page.split(new RegExp(`^## ${engine}$`, 'm'));
  const [, section = ''] = ofEngine.split(/^## /m)[0]?.split(`### ${title}\n`) ?? [];
  const [, code] = /```\w+\n([\s\S]*?)^```$/m.exec(section.split(/^### /m)[0] ?? '') ?? [];
  if (code === undefined) throw new Error(`${engine} has no section ${title}`);
  return code;
}

let made = 0;
const delivery = (id: string, at: number, body: string | Buffer, replayOf: string | null = null): WarehouseEvent => ({
  ...{ id, deliveryId: `dlv_${++made}`, source: 'orders', routeId: 'rte_1', replayOf, headers: { 'x-a': 'ü' } },
  ...{ receivedAt: new Date(at), writtenAt: new Date(NOON + made * MINUTE_MS), body: Buffer.from(body) },
});

// Two days; the second day has whatever senders send.
const first = delivery('evt_1', NOON, '{"order":{"id":"one"}}');
const second = delivery('evt_2', NOON + 1, 'no JSON');
const odd = Object.values(oddPayloads).map((body, n) => delivery(`evt_odd_${n}`, NOON + DAY_MS + n, body));
const replay = delivery('evt_1', NOON, '{"order":{"id":"two"}}', first.deliveryId);
/** Each becomes a file. */
const early = [[first, second], odd];
const later = [[replay]];
const all = [...early, ...later].flat();

const idsOf = (events: WarehouseEvent[]) => events.map(({ deliveryId }) => [deliveryId]).toSorted();
const latest = all.filter((event) => event !== first);
/** Of the first day, the latest row of each event. */
export const ofTheDay = [
  ['evt_1', replay.deliveryId],
  ['evt_2', second.deliveryId],
];

export type Form = { fileFormat: FileFormat; compression: Compression; payloadColumn: 'text'; fieldMapping: null };
export const formOf = (fileFormat: FileFormat, compression: Compression): Form => ({
  ...{ fileFormat, compression, payloadColumn: 'text', fieldMapping: null },
});

/** @returns the key of its object */
async function writeFile(
  threads: Threads,
  events: WarehouseEvent[],
  form: Form,
  sinkOf: (key: string) => FileSink,
): Promise<string> {
  const frozenAt = events[0]?.writtenAt ?? new Date();
  const key = objectKey({ id: `bat_${++made}`, events, partitionBy: 'date', keyOrder: 'written', frozenAt, ...form });
  const file = openFile('org_1', form, { threads, limit: MAX_ROW_BYTES, sink: sinkOf(key) });
  const stored = events.map((event) => ({ ...event, headers: JSON.stringify(event.headers) }));
  for await (const some of threads.rows('org_1', form, stored)) await file.add(some);
  await file.finish();
  return key;
}

/** Writes a file for each batch, below a folder that stands for the bucket. @returns that folder */
async function bucketOf(threads: Threads, bucket: string, batches: WarehouseEvent[][], form: Form): Promise<string> {
  for (const events of batches) {
    const kept = new KeptFile();
    const path = join(bucket, await writeFile(threads, events, form, () => kept));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, kept.body);
  }
  return bucket;
}

/** A bucket in a folder, and what comes into it later. */
export async function bucketWithMore(threads: Threads, folder: string, form: Form): Promise<[string, Step]> {
  const bucket = await bucketOf(threads, folder, early, form);
  return [bucket, { copy: [await bucketOf(threads, `${folder}-later`, later, form), bucket] }];
}

export interface Engine {
  name: 'duckdb' | 'clickhouse';
  python: string;
  table: string;
  /** A statement of the page for files that are elsewhere. */
  local: (sql: string) => string;
}

const TITLES = { duckdb: 'DuckDB', clickhouse: 'ClickHouse' };

/** Loads twice, then once more what came meanwhile, and asks. @param more none: all is there */
export async function expectLoads(
  { name, python, table, local }: Engine,
  load: 'Load JSON lines' | 'Load Parquet',
  more: Step | null,
): Promise<void> {
  const section = (title: string): Step => ({ run: local(sectionOf(TITLES[name], title)) });
  const comes = more === null ? [] : [more, section(load)];
  const before: Step[] = [section('The table'), section(load), section(load), ...comes];
  const results = await runRecipe(python, name, [
    ...before,
    section('One row per event'),
    { run: `select delivery_id from ${table} order by delivery_id` },
    { run: 'select delivery_id from webhook_events order by delivery_id' },
    section('Extract fields from payloads'),
    ...(name === 'duckdb' && load !== 'Load Parquet' ? [] : [section('Read only some files')]),
  ]);
  const [, deliveries, ofEvents, apart, part] = results.slice(before.length);
  expect(deliveries?.toSorted(), 'every delivery once').to.deep.equal(idsOf(all));
  expect(ofEvents?.toSorted(), 'the latest of each event').to.deep.equal(idsOf(latest));
  const orders = new Map(apart as [string, string | null][]);
  expect([orders.get('evt_1')?.replaceAll('"', ''), orders.get('evt_2') ?? null]).to.deep.equal(['two', null]);
  if (part) expect(Number(part[0]?.[0]), 'rows of a day').to.equal(3);
}
