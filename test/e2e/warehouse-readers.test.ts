// Files of warehouses as the programs read them that people use: whatever senders send, every reader reads every row of a file with
// payloads as text. docs/warehouses.md has the table.
import { expect } from 'chai';
import { COLD_START_MS, type StoreServer } from '../support/object-stores.ts';
import { generatedPayloads, oddPayloads } from '../support/odd-payloads.ts';
import { INSTALL_MS, requirePython } from '../support/python.ts';
import { countWith, installReaders, type Program, PROGRAMS, readWith, withMoments } from '../support/readers.ts';
import { COMPRESSIONS as PARQUET_COMPRESSIONS } from '../../core/warehouse/object-key.ts';
import { expectEachOnce, type Store, WarehousePipe } from '../support/warehouse-instance.ts';
import { allRowsOf, type Row, rowsOf, type WrittenObject } from '../support/warehouse-objects.ts';
import { providerCases } from '../support/warehouse-targets.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const FORMATS = ['jsonl', 'json'] as const;
const COMPRESSIONS = ['none', 'gzip', 'zstd'] as const;
const SEED = 20_261_121;

/** By what the file is: those that cannot read it, whatever is in it. */
const CANNOT: Readonly<Record<string, readonly Program[]>> = {
  // pyarrow reads lines only.
  json: ['pyarrow'],
};

const USUAL = '{"kind":"order.paid"}';

/** With payloads as JSON: the payloads that end the reading of their file, and whose. */
const STOPPED: Readonly<Record<string, readonly string[]>> = {
  'a number beyond a double': ['pyarrow', 'polars'],
  'a negative one': ['pyarrow', 'polars'],
  'an integer of 30 digits': ['pandas'],
  'an integer of 64 bits and one more': ['pandas'],
  'a name twice': ['duckdb', 'pyarrow'],
  'a name twice, in other case': ['duckdb'],
  'arrays 400 deep': ['duckdb', 'pyarrow', 'polars'],
  'objects 400 deep': ['duckdb', 'polars'],
  'arrays 600 deep': ['duckdb', 'pyarrow', 'polars'],
  'an array': ['pyarrow', 'polars'],
  'an array of arrays': ['pyarrow', 'polars'],
  'a text': ['pyarrow'],
  'a number': ['pyarrow', 'polars'],
  'a truth': ['pyarrow', 'polars'],
  'an array where others have text': ['pyarrow'],
  'a date': ['pyarrow'],
  'a time': ['pyarrow'],
  'what is no JSON': ['pyarrow'],
  'half of JSON': ['pyarrow'],
  'names of numbers that are none': ['pyarrow'],
  'a date that is no JSON': ['pyarrow'],
  'a text of line breaks': ['pyarrow'],
  'a text with NUL': ['pyarrow'],
  'a text with a quote and a backslash': ['pyarrow'],
  'bytes that are no text': ['pyarrow'],
  'a half of a surrogate pair in bytes': ['pyarrow'],
  'compressed bytes': ['pyarrow'],
};

describe('Files of warehouses', function () {
  this.timeout(600_000);
  const { testInstance } = useHookyard();
  let server: StoreServer;
  let store: Store;
  let python: string;
  before(async function () {
    this.timeout(COLD_START_MS + INSTALL_MS);
    requirePython(this);
    const [provider] = providerCases;
    if (!provider) throw new Error('there is no provider');
    [server, python] = await Promise.all([provider.start(), installReaders()]);
    await provider.prepare(server.url);
    store = { provider, url: server.url };
  });
  after(async () => {
    await server?.stop();
  });

  /** One destination for each config, all of them behind one source. */
  async function pipesOf(configs: Record<string, unknown>[], destination?: Record<string, unknown>) {
    const pipes: WarehousePipe[] = [];
    for (const config of configs) {
      const pipe = await WarehousePipe.make(testInstance, store, {
        config: { ...inOneFile, ...config },
        ...(destination && { destination }),
      });
      const [first] = pipes;
      if (first) await pipe.records.route(first.source.id, [pipe.destinationId]);
      pipes.push(pipe);
    }
    return pipes;
  }

  const bodies = [...Object.values(oddPayloads), ...generatedPayloads(60, SEED)];
  const inOneFile = { batchSize: bodies.length, batchWindowSeconds: 60 };

  it('with payloads as text are read by every reader, every row and every value', async () => {
    const configs = FORMATS.flatMap((fileFormat) => COMPRESSIONS.map((compression) => ({ fileFormat, compression })));
    const pipes = await pipesOf(configs);
    const [first] = pipes;
    const ids = (await first?.send(bodies)) ?? [];
    const objects: WrittenObject[] = [];
    for (const pipe of pipes) {
      const rows = await pipe.rows(bodies.length);
      expectEachOnce(rows, ids);
      for (const row of rows) expectPayload(row, bodies[ids.indexOf(String(row.event_id))] ?? '');
      objects.push(...(await pipe.objects()));
    }
    await expectRead(objects, 'text');
    await expectRead(objects, 'plain');
  });

  it('with columns of a mapping are read by every reader', async () => {
    const fieldMapping = [
      { source: '$.payload', target: 'whole', type: 'string' },
      { source: '$.payload.a', target: 'a', type: 'string' },
      { source: '$.payload.a', target: 'is_a', type: 'boolean' },
      { source: '$.payload', target: 'at', type: 'timestamp' },
    ];
    const pipes = await pipesOf([{ compression: 'gzip' }, { compression: 'zstd' }], { fieldMapping });
    const ids = (await pipes[0]?.send(bodies)) ?? [];
    for (const pipe of pipes) {
      expectEachOnce(await pipe.rows(bodies.length), ids);
      const objects = await pipe.objects();
      const jobs = objects.flatMap((object) =>
        PROGRAMS.map((program) => ({ reader: `${program}_plain` as const, object })),
      );
      const results = await readWith(python, jobs);
      for (const [index, { reader, object }] of jobs.entries()) {
        const result = results[index] ?? { error: 'nothing' };
        if ('error' in result) throw new Error(`${reader} reads ${object.key}: ${result.error}`);
        const pick = (rows: Row[], name: string) => rows.map((row) => row[name]);
        for (const name of ['event_id', 'delivery_id', 'whole', 'a'])
          expect(pick(result.rows, name), `${reader}, ${name}`).to.deep.equal(pick(rowsOf(object), name));
      }
    }
  });

  const parquet = PARQUET_COMPRESSIONS.map((compression) => ({ fileFormat: 'parquet', compression }));

  it('in Parquet are read by every reader, every row and every value', async () => {
    const pipes = await pipesOf(parquet);
    const ids = (await pipes[0]?.send(bodies)) ?? [];
    for (const pipe of pipes) {
      const rows = await pipe.rows(bodies.length);
      expectEachOnce(rows, ids);
      for (const row of rows) expectPayload(row, bodies[ids.indexOf(String(row.event_id))] ?? '');
      await expectParquet(await pipe.objects(), ['received_at', 'written_at']);
    }
  });

  it('in Parquet with columns of a mapping are read by every reader, every row and every value', async () => {
    const fieldMapping = [
      { source: '$.payload', target: 'whole', type: 'json' },
      { source: '$.payload.a', target: 'a', type: 'string' },
      { source: '$.payload.a', target: 'n', type: 'number' },
      { source: '$.payload.a', target: 'is_a', type: 'boolean' },
      { source: '$.payload', target: 'at', type: 'timestamp' },
    ];
    const pipes = await pipesOf(parquet, { fieldMapping });
    const ids = (await pipes[0]?.send(bodies)) ?? [];
    for (const pipe of pipes) {
      expectEachOnce(await pipe.rows(bodies.length), ids);
      await expectParquet(await pipe.objects(), ['at']);
    }
  });

  /** Every value of every row, times by the moment that they are. */
  async function expectParquet(objects: WrittenObject[], times: string[]): Promise<void> {
    const jobs = objects.flatMap((object) =>
      PROGRAMS.map((program) => ({ reader: `${program}_parquet` as const, object })),
    );
    const results = await readWith(python, jobs);
    const comparable = (row: Row) => withMoments(row, times);
    for (const [index, { reader, object }] of jobs.entries()) {
      const result = results[index] ?? { error: 'nothing' };
      if ('error' in result) throw new Error(`${reader} reads ${object.key}: ${result.error}`);
      const wanted = (await allRowsOf(object)).map(comparable);
      expect(result.rows.map(comparable), `${reader} of ${object.key}`).to.deep.equal(wanted);
    }
  }

  it('with payloads as JSON stop readers by single payloads, as the documentation says', async () => {
    const config = { payloadColumn: 'json', batchSize: 3, batchWindowSeconds: 300 };
    const pipe = await WarehousePipe.make(testInstance, store, { config });
    const names = new Map<string, string>();
    for (const [name, body] of Object.entries(oddPayloads)) {
      // Between others, as it comes.
      for (const each of [USUAL, body, USUAL]) {
        const [id = ''] = await pipe.send([each]);
        if (each === body) names.set(id, name);
      }
    }
    await pipe.settled(3 * names.size);
    const objects = await pipe.objects();
    const jobs = objects.flatMap((object) =>
      PROGRAMS.map((program) => ({ program, reader: `${program}_plain` as const, object })),
    );
    const results = await countWith(python, jobs);
    const oddIn = (object: WrittenObject) =>
      rowsOf(object)
        .flatMap((row) => names.get(String(row.event_id)) ?? [])
        .join(' and ');
    const stopped = Map.groupBy(
      jobs.filter((_job, index) => 'error' in (results[index] ?? {})),
      ({ object }) => oddIn(object),
    );
    const programs = [...stopped].map(([name, ended]) => [name, ended.map(({ program }) => program)]);
    expect(Object.fromEntries(programs)).to.deep.equal(STOPPED);
  });

  /** Every row of each object with each reader. @param how `plain`: of columns whose types the reader finds out, those that stay text */
  async function expectRead(objects: WrittenObject[], how: 'plain' | 'text'): Promise<void> {
    const jobs = objects.flatMap((object) =>
      PROGRAMS.filter((program) => !CANNOT[formatOf(object)]?.includes(program)).map((program) => ({
        reader: `${program}_${how}` as const,
        object,
      })),
    );
    const results = await readWith(python, jobs);
    for (const [index, { reader, object }] of jobs.entries()) {
      const result = results[index] ?? { error: 'nothing' };
      if ('error' in result) throw new Error(`${reader} reads ${object.key}: ${result.error}`);
      const wanted = rowsOf(object);
      expect(result.rows.length, `${reader} of ${object.key}`).to.equal(wanted.length);
      for (const [at, row] of wanted.entries()) {
        const read = result.rows[at] ?? {};
        const { received_at: _received, written_at: _written, ...texts } = row;
        expect(read, `${reader} of ${object.key}`).to.deep.include(how === 'text' ? row : texts);
      }
    }
  }
});

const formatOf = ({ key }: WrittenObject) => (/\.jsonl(\.|$)/.test(key) ? 'jsonl' : 'json');

/** The column holds what was sent. */
function expectPayload({ payload, payload_encoding: encoding }: Row, sent: string | Buffer): void {
  const bytes = Buffer.from(sent);
  const read = Buffer.from(String(payload), encoding === 'base64' ? 'base64' : 'utf8');
  const mark = Buffer.from('\ufeff');
  const wanted =
    encoding === 'json' && bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes;
  expect(read.equals(wanted), `${String(encoding)} ${String(payload).slice(0, 200)}`).to.equal(true);
}
