// A file of lines and one of Parquet, from the webhook to DuckDB, pyarrow, polars and pandas.
import { expect } from 'chai';
import { oddPayloads } from '../support/attacks/odd-payloads.ts';
import { INSTALL_MS, requirePython } from '../support/programs/python.ts';
import { installReaders, PROGRAMS, type Reader, readWith } from '../support/warehouse/readers.ts';
import { makePipe, useStore, type WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { type Row, rowsOf, type WrittenObject } from '../support/warehouse/warehouse-objects.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/** By what they become in a column of 38 digits, 9 of them behind the point; null: it does not fit. */
const AMOUNTS: [body: string, amount: string | null][] = [
  ['{"a":12345678901234567890123456789.123456789}', '12345678901234567890123456789.123456789'],
  ['{"a":"-0.10"}', '-0.100000000'],
  ['{"a":1e3}', '1000.000000000'],
  ['{"a":0.0000000001}', null],
];

describe('Readers of warehouses', () => {
  const { testInstance } = useHookyard();
  let python: string;
  before(async function () {
    this.timeout(INSTALL_MS);
    requirePython(this);
    python = await installReaders();
  });
  const store = useStore();

  it('give every row and every value of compressed lines and of Parquet, decimals too', async () => {
    const odd = ['a lone surrogate', 'a number beyond a double', 'a name twice', 'bytes that are no text'];
    const bodies = [...AMOUNTS.map(([body]) => body), ...odd.map((name) => oddPayloads[name] ?? expect.fail(name))];
    const config = { batchSize: bodies.length, batchWindowSeconds: 60 };
    const decimal = { type: 'decimal', precision: 38, scale: 9 };
    const fieldMapping = [
      { source: '$.payload.a', target: 'amount', ...decimal },
      { source: '$.payload', target: 'whole', type: 'json' },
    ];
    const lines = await makePipe(testInstance, store, { config: { ...config, compression: 'gzip' } });
    const parquet = await makePipe(testInstance, store, {
      config: { ...config, fileFormat: 'parquet', compression: 'zstd' },
      destination: { fieldMapping },
    });
    await lines.records.route(lines.source.id, [parquet.destinationId]);
    const ids = await lines.send(bodies);
    await Promise.all([lines, parquet].map((pipe) => pipe.settled(bodies.length)));
    const [ofLines, ofParquet] = await Promise.all([read(lines, 'text'), read(parquet, 'parquet')]);
    for (const { reader, rows, object } of ofLines) expect(rows, reader).to.deep.equal(rowsOf(object));
    for (const { reader, rows } of ofParquet) {
      expect(rows.map((row) => row.event_id).toSorted(), reader).to.deep.equal(ids.toSorted());
      const amounts = new Map(rows.map((row) => [row.event_id, row.amount]));
      for (const [index, [body, amount]] of AMOUNTS.entries())
        expect(amounts.get(ids[index]), `${reader}, ${body}`).to.equal(amount);
    }
    const [batch] = await parquet.batches('written');
    const misfit = batch?.conversions?.[0];
    expect(misfit).to.include({ target: 'amount' });
    expect(ids).to.include(misfit?.eventId);
  });

  type Read = { reader: Reader; object: WrittenObject; rows: Row[] };

  /** The only file of a warehouse, by each program. */
  async function read(pipe: WarehousePipe, how: 'text' | 'parquet'): Promise<Read[]> {
    const [object = expect.fail('there is no file'), ...others] = await pipe.objects();
    expect(others).to.deep.equal([]);
    const jobs = PROGRAMS.map((program) => ({ reader: `${program}_${how}` as const, object }));
    const results = await readWith(python, jobs);
    return jobs.map((job, index) => {
      const result = results[index] ?? { error: 'nothing' };
      if ('error' in result) throw new Error(`${job.reader}: ${result.error}`);
      return { ...job, rows: result.rows };
    });
  }
});
