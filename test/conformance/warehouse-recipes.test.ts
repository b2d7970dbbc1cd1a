// The pages of docs/warehouses/ whose engines are here: their statements are taken from the page and run on files that come in two
// parts, a replay in the second.
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { WarehouseEvent } from '../../core/warehouse/event.ts';
import { type Compression, type FileFormat, objectKey } from '../../core/warehouse/object-key.ts';
import { type Compute, createCompute } from '../../outbound/compute/index.ts';
import { openFile } from '../../outbound/warehouses/batch-file.ts';
import { oddPayloads } from '../support/odd-payloads.ts';
import { INSTALL_MS, requirePython } from '../support/python.ts';
import { installClickHouse, installReaders, runRecipe, type Step } from '../support/readers.ts';

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'warehouses');
const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The code of a page, by the title of its section. */
function sectionsOf(page: string): Map<string, string> {
  const text = readFileSync(join(PAGES, page), 'utf8');
  const sections = text.matchAll(/^## (.+)\n(?:(?!^## )[\s\S])*?^```\w+\n([\s\S]*?)^```$/gm);
  return new Map(Array.from(sections, ([, title = '', code = '']) => [title, code]));
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
const early = [[first, second], odd];
const later = [[replay]];
const all = [...early, ...later].flat();

const idsOf = (events: WarehouseEvent[]) => events.map(({ deliveryId }) => [deliveryId]).toSorted();
const latest = all.filter((event) => event !== first);
/** Of the first day, the latest row of each event. */
const ofTheDay = [
  ['evt_1', replay.deliveryId],
  ['evt_2', second.deliveryId],
];

describe('The recipes of warehouses @turns', function () {
  this.timeout(180_000);
  let compute: Compute;
  let folder: string;
  let python: string;
  before(async function () {
    this.timeout(INSTALL_MS);
    requirePython(this);
    python = await installReaders();
    compute = createCompute({ threads: 1, log: { warn() {} } });
    folder = mkdtempSync(join(tmpdir(), 'hookyard-recipes-'));
  });
  after(async () => {
    await compute?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Writes a file for each batch, below a folder that stands for the bucket. @returns that folder */
  async function bucketOf(name: string, batches: WarehouseEvent[][], form: Form): Promise<string> {
    const bucket = join(folder, name);
    for (const events of batches) {
      const file = openFile('org_1', form, compute);
      const stored = events.map((event) => ({ ...event, headers: JSON.stringify(event.headers) }));
      for await (const made of compute.rows('org_1', form, stored)) await file.add(made);
      const frozenAt = events[0]?.writtenAt ?? new Date();
      const key = objectKey({
        id: `bat_${++made}`,
        events,
        partitionBy: 'date',
        keyOrder: 'written',
        frozenAt,
        ...form,
      });
      mkdirSync(dirname(join(bucket, key)), { recursive: true });
      writeFileSync(join(bucket, key), (await file.finish()).body);
    }
    return bucket;
  }

  type Form = { fileFormat: FileFormat; compression: Compression; payloadColumn: 'text'; fieldMapping: null };
  const formOf = (fileFormat: FileFormat, compression: Compression): Form => ({
    ...{ fileFormat, compression, payloadColumn: 'text', fieldMapping: null },
  });

  /** A bucket, and what comes into it later. */
  async function files(name: string, form: Form): Promise<{ bucket: string; more: Step }> {
    const bucket = await bucketOf(name, early, form);
    return { bucket, more: { copy: [await bucketOf(`${name}-later`, later, form), bucket] } };
  }

  const FORMS: [FileFormat, Compression, string][] = [
    ['jsonl', 'none', 'Load JSON lines'],
    ['jsonl', 'gzip', 'Load JSON lines'],
    ['jsonl', 'zstd', 'Load JSON lines'],
    ['parquet', 'snappy', 'Load Parquet'],
    ['parquet', 'zstd', 'Load Parquet'],
  ];

  /** Loads twice, then once more what came meanwhile, and asks. */
  async function expectLoads(
    engine: {
      name: 'duckdb' | 'clickhouse';
      python: string;
      table: string;
      local: (sql: string, bucket: string) => string;
    },
    [fileFormat, compression, load]: (typeof FORMS)[number],
  ): Promise<void> {
    const { bucket, more } = await files(
      `${engine.name}-${fileFormat}-${compression}`,
      formOf(fileFormat, compression),
    );
    const sections = sectionsOf(`${engine.name}.md`);
    const section = (title: string): Step => {
      const code = sections.get(title);
      if (code === undefined) throw new Error(`${engine.name}.md has no section ${title}`);
      return { run: engine.local(code, bucket) };
    };
    const steps: Step[] = [
      ...[section('The table'), section(load), section(load), more, section(load), section('One row for each event')],
      { run: `select delivery_id from ${engine.table} order by delivery_id` },
      { run: 'select delivery_id from webhook_events order by delivery_id' },
      section('Take payloads apart'),
      ...(engine.name === 'duckdb' && fileFormat !== 'parquet' ? [] : [section('Read a part')]),
    ];
    const results = await runRecipe(engine.python, engine.name, steps);
    expect(results[6]?.toSorted(), 'every delivery once').to.deep.equal(idsOf(all));
    expect(results[7]?.toSorted(), 'the latest of each event').to.deep.equal(idsOf(latest));
    const orders = new Map(results[8] as [string, string | null][]);
    expect([orders.get('evt_1')?.replaceAll('"', ''), orders.get('evt_2') ?? null]).to.deep.equal(['two', null]);
    if (results[9]) expect(Number(results[9][0]?.[0]), 'rows of a day').to.equal(3);
  }

  for (const form of FORMS) {
    it(`DuckDB loads ${form[0]}, ${form[1]}, as its page says`, () =>
      expectLoads(
        {
          ...{ name: 'duckdb', python, table: 'webhooks' },
          local: (sql, bucket) => sql.replaceAll('s3://events/hooks', bucket),
        },
        form,
      ));
  }

  for (const form of FORMS) {
    it(`ClickHouse loads ${form[0]}, ${form[1]}, as its page says`, async function () {
      this.timeout(INSTALL_MS);
      const clickHouse = await installClickHouse();
      await expectLoads(
        {
          ...{ name: 'clickhouse', python: clickHouse, table: 'webhooks final' },
          local: (sql, bucket) =>
            sql.replaceAll(/s3\('https:\/\/[^/']+\/hooks\/([^']+)', '[^']*', '[^']*', /g, `file('${bucket}/$1', `),
        },
        form,
      );
    });
  }

  for (const [title, form] of [
    ['polars', formOf('parquet', 'snappy')],
    ['polars, JSON lines', formOf('jsonl', 'gzip')],
    ['pyarrow', formOf('parquet', 'zstd')],
    ['pandas', formOf('parquet', 'gzip')],
  ] as const) {
    it(`${title}: reads a day as the page says`, async () => {
      const { bucket, more } = await files(title, form);
      const code = sectionsOf('python.md').get(title)?.replaceAll('s3://events/hooks', bucket);
      if (code === undefined) throw new Error(`python.md has no section ${title}`);
      const [, rows] = await runRecipe(python, 'python', [more, { run: code }]);
      expect(rows).to.deep.equal(ofTheDay);
    });
  }
});
