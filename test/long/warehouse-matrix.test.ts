// Which program reads the files of which store in which form (npm run test:long); docs/guide/warehouses.md says which
// do not.
import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import type { WarehouseType } from '../../core/warehouse/config.ts';
import { COMPRESSIONS, TEXT_COMPRESSIONS } from '../../core/warehouse/files-and-keys.ts';
import { COLD_START_MS, type StoreServer } from '../support/warehouse/object-stores.ts';
import { generatedPayloads, oddPayloads } from '../support/attacks/odd-payloads.ts';
import { INSTALL_MS, requirePython } from '../support/programs/python.ts';
import { installReaders, type Program, PROGRAMS, readWith, withMoments } from '../support/warehouse/readers.ts';
import { expectEachOnce, type Store, WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { allRowsOf, type Row, type WrittenObject } from '../support/warehouse/warehouse-objects.ts';
import { providerCases } from '../support/warehouse/warehouse-targets.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const STORES: WarehouseType[] = ['s3', 'r2', 'gcs', 'azure_blob'];
const ENDINGS = { none: '', gzip: '.gz', zstd: '.zst' };

/** By the ending of a key. */
const FORMS = Object.fromEntries([
  ...(['jsonl', 'json'] as const).flatMap((fileFormat) =>
    TEXT_COMPRESSIONS.map((compression) => [`.${fileFormat}${ENDINGS[compression]}`, { fileFormat, compression }]),
  ),
  ...COMPRESSIONS.map((compression) => [`.parquet (${compression})`, { fileFormat: 'parquet', compression }]),
]) as Record<string, { fileFormat: string; compression: string }>;

describe('Files of warehouses, by form, store and reader', function () {
  this.timeout(600_000);
  const { testInstance } = useHookyard();
  let stores: Store[];
  const servers: StoreServer[] = [];
  let python: string;
  before(async function () {
    this.timeout(COLD_START_MS + INSTALL_MS);
    requirePython(this);
    [python, stores] = await Promise.all([installReaders(), Promise.all(STORES.map(startStore))]);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function startStore(type: WarehouseType): Promise<Store> {
    const provider = providerCases.find((one) => one.type === type);
    if (!provider) throw new Error(`there is no server for ${type}`);
    const server = await provider.start();
    servers.push(server);
    await provider.prepare(server.url);
    return { provider, url: server.url };
  }

  it('are read as the documentation says', async () => {
    const bodies = [...Object.values(oddPayloads), ...generatedPayloads(20, 20_261_126)];
    const inOneFile = { batchSize: bodies.length, batchWindowSeconds: 60 };
    const cells: { form: string; pipe: WarehousePipe }[] = [];
    for (const [form, config] of Object.entries(FORMS)) {
      for (const store of stores) {
        const pipe = await WarehousePipe.make(testInstance, store, { config: { ...inOneFile, ...config } });
        // All of them behind the source of the first, which has its route.
        const [first] = cells;
        if (first) await pipe.records.route(first.pipe.source.id, [pipe.destinationId]);
        cells.push({ form, pipe });
      }
    }
    const ids = (await cells[0]?.pipe.send(bodies)) ?? [];
    for (const { form, pipe } of cells) {
      expectEachOnce(await pipe.rows(bodies.length, 300_000), ids);
      // pyarrow reads lines only.
      const wanted = PROGRAMS.filter((program) => program !== 'pyarrow' || !/^\.json(\.|$)/.test(form));
      expect(await readersOf(await pipe.objects()), `${form} in ${pipe.destinationId}`).to.deep.equal(wanted);
    }
  });

  /** The programs that give every row and every value. */
  async function readersOf(objects: WrittenObject[]): Promise<Program[]> {
    const jobs = objects.flatMap((object) =>
      PROGRAMS.map((program) => ({
        program,
        object,
        reader: `${program}_${object.key.endsWith('.parquet') ? 'parquet' : 'text'}` as const,
      })),
    );
    const results = await readWith(python, jobs);
    const failed = new Set<Program>();
    for (const [index, { program, object }] of jobs.entries()) {
      const result = results[index];
      const wanted = (await allRowsOf(object)).map(comparable);
      if (!result || 'error' in result || !isDeepStrictEqual(result.rows.map(comparable), wanted)) failed.add(program);
    }
    return PROGRAMS.filter((program) => !failed.has(program));
  }
});

const comparable = (row: Row): Row => withMoments(row, ['received_at', 'written_at']);
