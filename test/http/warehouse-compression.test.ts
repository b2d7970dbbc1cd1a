// Compressed files of warehouses.
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { createFileWriter } from '../../core/warehouse/file.ts';
import { FileTooLargeError, MAX_FILE_BYTES } from '../../core/warehouse/size-limit.ts';
import { compressed } from '../../outbound/warehouses/compress.ts';

function fileOf(rows: string[]) {
  const writer = createFileWriter('jsonl');
  for (const row of rows) writer.add({ bytes: Buffer.from(row), rows: 1, misfits: 0 });
  return writer.finish();
}

const rows = Array.from({ length: 5000 }, (_, n) => JSON.stringify({ n, text: `row ${n} of many` }));

describe('compressed warehouse files', () => {
  for (const [compression, contentType, unpack] of [
    ['gzip', 'application/gzip', gunzipSync],
    ['zstd', 'application/zstd', zstdDecompressSync],
  ] as const) {
    it(`of ${compression} hold the same content, and the same bytes each time`, async () => {
      const plain = fileOf(rows);
      const [one, other] = [await compressed(plain, compression), await compressed(fileOf(rows), compression)];
      expect(one).to.include({ contentType, count: rows.length, misfits: 0 });
      expect(unpack(one.body).equals(plain.body)).to.equal(true);
      expect(one.body.length).to.be.lessThan(plain.body.length / 3);
      expect(other.body.equals(one.body)).to.equal(true);
      expect(one.sha256).to.equal(createHash('sha256').update(one.body).digest('hex'));
    });
  }

  it('of gzip tell no time and no name', async () => {
    // RFC 1952, section 2.3: two bytes that name gzip, the method, flags, four bytes of time.
    const { body } = await compressed(fileOf(['{}']), 'gzip');
    expect([...body.subarray(0, 8)]).to.deep.equal([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
  });

  it('of zstd tell the size of their content', async () => {
    // RFC 8878, section 3.1.1: the magic number, a descriptor (single segment, a checksum), the size.
    const { body } = await compressed(fileOf(['{}']), 'zstd');
    expect([...body.subarray(0, 6)]).to.deep.equal([0x28, 0xb5, 0x2f, 0xfd, 0x24, 3]);
  });

  it('none leaves as it is', async () => {
    const plain = fileOf(rows);
    expect(await compressed(plain, 'none')).to.equal(plain);
  });

  it('are as large before they are compressed as others', () => {
    const writer = createFileWriter('jsonl');
    const half = { bytes: Buffer.alloc(MAX_FILE_BYTES / 2, ' '), rows: 1, misfits: 0 };
    writer.add(half);
    expect(() => writer.add(half)).to.throw(FileTooLargeError);
  });
});
