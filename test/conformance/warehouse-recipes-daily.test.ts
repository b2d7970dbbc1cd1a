// Of the pages in docs/warehouses/ a few statements each day: from a folder, and from the store itself. All of them:
// warehouse-recipes.test.ts.
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Threads } from '../../outbound/threads/index.ts';
import { createWarehouses, type Warehouses } from '../../outbound/warehouses/index.ts';
import { ObjectWriter } from '../../outbound/warehouses/files.ts';
import { COLD_START_MS, S3_ACCESS_KEY, S3_SECRET_KEY, type StoreServer } from '../support/object-stores.ts';
import { INSTALL_MS, requirePython } from '../support/python.ts';
import { installClickHouse, installReaders, runRecipe } from '../support/readers.ts';
import {
  bucketWithMore,
  early,
  expectLoads,
  type Form,
  formOf,
  later,
  ofTheDay,
  sectionOf,
  writeFile,
} from '../support/recipes.ts';
import { s3CaseOf, targetOf } from '../support/warehouse-targets.ts';
import { testThreads } from '../support/threads.ts';

describe('Recipes of warehouses', () => {
  // What ClickHouse signs for a store that is not at AWS.
  const provider = s3CaseOf('us-east-1');
  let threads: Threads;
  let warehouses: Warehouses;
  let server: StoreServer;
  let python: string;
  let clickHouse: string;
  before(async function () {
    this.timeout(COLD_START_MS + INSTALL_MS);
    requirePython(this);
    [python, clickHouse, server] = await Promise.all([installReaders(), installClickHouse(), provider.start()]);
    await provider.prepare(server.url);
    threads = testThreads(1);
    warehouses = createWarehouses({ allow: ['127.0.0.1'] });
  });
  after(async () => {
    await Promise.all([threads?.close(), warehouses?.close()]);
    await server?.stop();
  });

  /** Writes all files to the store. @returns `<bucket>/<folder>` */
  async function stored(folder: string, form: Form): Promise<string> {
    const target = targetOf(provider, server.url);
    for (const events of [...early, ...later]) {
      const object = (key: string) => ({ key: `${folder}/${key}`, contentType: 'text/plain', timeoutMs: 30_000 });
      let writer: ObjectWriter | undefined;
      await writeFile(threads, events, form, (key) => (writer = new ObjectWriter(warehouses, target, object(key))));
      await writer?.end(events.length);
    }
    const { bucket } = provider.config(server.url);
    return `${String(bucket)}/${folder}`;
  }

  it('DuckDB loads Parquet files, as its page says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookyard-recipes-'));
    try {
      const [bucket, more] = await bucketWithMore(threads, join(folder, 'bucket'), formOf('parquet', 'zstd'));
      const local = (sql: string) => sql.replaceAll('s3://events/hooks', bucket);
      await expectLoads({ name: 'duckdb', python, table: 'webhooks', local }, 'Load Parquet', more);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('ClickHouse loads JSON lines from the store, as its page says', async () => {
    const place = await stored('lines', formOf('jsonl', 'gzip'));
    const local = (sql: string) =>
      sql
        .replaceAll('https://events.s3.eu-central-1.amazonaws.com/hooks', `${server.url}/${place}`)
        .replaceAll(`'AKIA...', '...'`, `'${S3_ACCESS_KEY}', '${S3_SECRET_KEY}'`);
    await expectLoads(
      { name: 'clickhouse', python: clickHouse, table: 'webhooks final', local },
      'Load JSON lines',
      null,
    );
  });

  it('pyarrow reads a day of Parquet files from the store, as the page says', async () => {
    const place = await stored('parquet', formOf('parquet', 'snappy'));
    const query = new URLSearchParams({ scheme: 'http', endpoint_override: server.address, region: 'us-east-1' });
    const uri = `s3://${S3_ACCESS_KEY}:${S3_SECRET_KEY}@${place}?${query}`;
    const code = sectionOf('python.md', 'pyarrow').replaceAll('s3://events/hooks', uri);
    const [rows] = await runRecipe(python, 'python', [{ run: code }]);
    expect(rows).to.deep.equal(ofTheDay);
  });
});
