// docs/guide/warehouse-recipes.md, for engines that are here: its statements run on files that come in two parts, a
// replay in the second.
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compression, FileFormat } from '../../core/warehouse/files-and-keys.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import { INSTALL_MS, requirePython } from '../support/programs/python.ts';
import { installClickHouse, installReaders, runRecipe } from '../support/warehouse/readers.ts';
import { bucketWithMore, type Engine, expectLoads, formOf, ofTheDay, sectionOf } from '../support/warehouse/recipes.ts';
import { testThreads } from '../support/threads.ts';

describe('The recipes of warehouses', () => {
  let threads: Threads;
  let folder: string;
  let python: string;
  before(async function () {
    this.timeout(INSTALL_MS);
    requirePython(this);
    python = await installReaders();
    threads = testThreads(1);
    folder = mkdtempSync(join(tmpdir(), 'hookyard-recipes-'));
  });
  after(async () => {
    await threads?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const FORMS: [FileFormat, Compression, 'Load JSON lines' | 'Load Parquet'][] = [
    ['jsonl', 'none', 'Load JSON lines'],
    ['jsonl', 'gzip', 'Load JSON lines'],
    ['jsonl', 'zstd', 'Load JSON lines'],
    ['parquet', 'snappy', 'Load Parquet'],
    ['parquet', 'zstd', 'Load Parquet'],
  ];

  async function expectLoaded(
    engine: Omit<Engine, 'local'>,
    [fileFormat, compression, load]: (typeof FORMS)[number],
    localIn: (bucket: string) => Engine['local'],
  ): Promise<void> {
    const place = join(folder, `${engine.name}-${fileFormat}-${compression}`);
    const [bucket, more] = await bucketWithMore(threads, place, formOf(fileFormat, compression));
    await expectLoads({ ...engine, local: localIn(bucket) }, load, more);
  }

  for (const form of FORMS) {
    it(`DuckDB loads ${form[0]}, ${form[1]}, as its page says`, () =>
      expectLoaded(
        { name: 'duckdb', python, table: 'webhooks' },
        form,
        (bucket) => (sql) => sql.replaceAll('s3://events/hooks', bucket),
      ));
  }

  for (const form of FORMS) {
    it(`ClickHouse loads ${form[0]}, ${form[1]}, as its page says`, async function () {
      this.timeout(INSTALL_MS);
      const clickHouse = await installClickHouse();
      await expectLoaded(
        { name: 'clickhouse', python: clickHouse, table: 'webhooks final' },
        form,
        (bucket) => (sql) =>
          sql.replaceAll(/s3\('https:\/\/[^/']+\/hooks\/([^']+)', '[^']*', '[^']*', /g, `file('${bucket}/$1', `),
      );
    });
  }

  for (const [title, form] of [
    ['polars', formOf('parquet', 'snappy')],
    ['polars, JSON lines', formOf('jsonl', 'gzip')],
    ['pandas', formOf('parquet', 'zstd')],
  ] as const) {
    it(`${title}: reads a day as the page says`, async () => {
      const [bucket, more] = await bucketWithMore(threads, join(folder, title), form);
      const code = sectionOf('Python', title).replaceAll('s3://events/hooks', bucket);
      const [, rows] = await runRecipe(python, 'python', [more, { run: code }]);
      expect(rows).to.deep.equal(ofTheDay);
    });
  }
});
