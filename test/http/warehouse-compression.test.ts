import { expect } from 'chai';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { compressedSink, WHOLE_BYTES } from '../../outbound/warehouses/files.ts';
import { KeptFile } from '../support/requests/kept-file.ts';

async function compressed(compression: 'gzip' | 'zstd', parts: Iterable<Buffer>): Promise<Buffer> {
  const kept = new KeptFile();
  const sink = compressedSink(compression, kept);
  for (const part of parts) await sink.write(part);
  await sink.end();
  return kept.body;
}

const rows = Buffer.from(
  Array.from({ length: 5000 }, (_, n) => `${JSON.stringify({ n, text: 'one of many' })}\n`).join(''),
);

/** The same bytes as whole, in parts of some sizes. */
function* partsOf(whole: Buffer, sizes: number[]): Generator<Buffer> {
  for (let from = 0, n = 0; from < whole.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    yield whole.subarray(from, from + size);
    from += size;
  }
}

describe('compressed warehouse files', () => {
  for (const [compression, unpack] of [
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    it(`of ${compression} hold the same content, and the same bytes each time`, async () => {
      const [one, other] = [await compressed(compression, [rows]), await compressed(compression, partsOf(rows, [999]))];
      expect(unpack(one).equals(rows)).to.equal(true);
      expect(one.length).to.be.lessThan(rows.length / 3);
      expect(other.equals(one)).to.equal(true);
    });

    it(`of ${compression} are made piece by piece when they are large, the same bytes however their content comes`, async () => {
      const large = Buffer.concat(Array<Buffer>(Math.ceil((2.5 * WHOLE_BYTES) / rows.length)).fill(rows));
      const one = await compressed(compression, partsOf(large, [5_000_000, 1]));
      expect(unpack(one).equals(large)).to.equal(true);
      const other = await compressed(compression, partsOf(large, [WHOLE_BYTES, 70_000, 3_000_000]));
      expect(other.equals(one)).to.equal(true);
    });

    it(`of ${compression} end when their bytes are not taken`, async () => {
      const sink = compressedSink(compression, { write: () => Promise.reject(new Error('it is full')) });
      let problem = '';
      try {
        for (let n = 0; n < 4; n += 1) await sink.write(Buffer.alloc(WHOLE_BYTES, n));
        await sink.end();
      } catch (error) {
        problem = String(error);
      }
      expect(problem).to.equal('Error: it is full');
    });
  }
});
