// Files that a mapping makes too large for one object: the batch is halved until they fit.
import { expect } from 'chai';
import { allRowsOf } from '../support/warehouse/warehouse-objects.ts';
import { makePipe, useStore, type WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MIB = 1024 * 1024;
// A control character takes six bytes in JSON, and seven in JSON inside a text.
const body = (bytes: number) => '\u0001'.repeat(bytes);
const column = (source: string, target: string) => ({ source, target, type: 'string' });
const fieldMapping = [
  column('$.id', 'event_id'),
  column('$.payload', 'a'),
  column('$.payload', 'b'),
  column('$', 'whole'),
];

describe('a warehouse file that would be too large', () => {
  const { testInstance } = useHookyard();
  const store = useStore();

  /** @returns of each object the ids of its events and its size */
  const written = async (pipe: WarehousePipe) =>
    (await pipe.objects()).map((object) => ({
      ids: [...object.body.toString().matchAll(/^\{"delivery_id":"\w+","event_id":"(\w+)"/gm)].map(([, id]) => id),
      bytes: object.body.length,
    }));

  it('is written as several, each event once', async () => {
    const pipe = await makePipe(testInstance, store, { destination: { fieldMapping } });
    const ids = await pipe.send([...Array<string>(12).fill(body(400_000)), ...Array<string>(5).fill('tiny')]);
    await pipe.settled(17);
    const objects = await written(pipe);
    expect(objects.flatMap((object) => object.ids).toSorted()).to.deep.equal(ids.toSorted());
    expect(objects).to.have.lengthOf.at.least(2);
    for (const { bytes } of objects) expect(bytes).to.be.at.most(64 * MIB);
    expect((await pipe.batches('written')).map(({ count }) => count).toSorted()).to.deep.equal(
      objects.map((object) => object.ids.length).toSorted(),
    );
  });

  it('is written as several in Parquet too, each event once', async () => {
    const config = { fileFormat: 'parquet', compression: 'zstd' };
    const pipe = await makePipe(testInstance, store, { config, destination: { fieldMapping } });
    const ids = await pipe.send(Array<string>(12).fill(body(400_000)));
    await pipe.settled(12);
    const objects = await Promise.all((await pipe.objects()).map(allRowsOf));
    expect(
      objects
        .flat()
        .map((row) => row.event_id)
        .toSorted(),
    ).to.deep.equal(ids.toSorted());
    expect(objects).to.have.lengthOf.at.least(2);
  });

  it('fails only the event that does not fit into one by itself', async () => {
    const pipe = await makePipe(testInstance, store, { destination: { fieldMapping } });
    const [huge, ...tiny] = await pipe.send([body(4.5 * MIB), ...Array<string>(5).fill('tiny')]);
    await pipe.settled(5);
    await pipe.settled(1, 'failed');
    expect((await written(pipe)).flatMap((object) => object.ids).toSorted()).to.deep.equal(tiny.toSorted());
    const [delivery] = await pipe.records.deliveries(huge ?? '');
    expect(delivery?.error).to.match(/^The row for this event would be larger than 64 MiB/);
  });
});
