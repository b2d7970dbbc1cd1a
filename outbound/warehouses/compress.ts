// Compresses the file of a batch, beside the event loop. One Node on one kind of processor gives the same bytes for the same file: Node
// writes no time and no name into the header of gzip.
// Rules: WH-32.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip, type ZstdOptions, zstdCompress } from 'node:zlib';
import type { BatchFile } from '../../core/warehouse/file.ts';
import type { TextCompression } from '../../core/warehouse/object-key.ts';

// Less to join at the end than with zlib's 16 KiB; a file has 64 MiB at most.
const CHUNK_BYTES = 256 * 1024;

type Packed = Pick<BatchFile, 'body' | 'contentType'>;

const pack: Readonly<Record<Exclude<TextCompression, 'none'>, (body: Buffer) => Promise<Packed>>> = {
  async gzip(body) {
    return { body: await promisify(gzip)(body, { chunkSize: CHUNK_BYTES }), contentType: 'application/gzip' };
  },
  async zstd(body) {
    const options: ZstdOptions = {
      chunkSize: CHUNK_BYTES,
      // Both are in the frame: readers know how much memory they need, and notice damage.
      pledgedSrcSize: body.length,
      params: { [constants.ZSTD_c_checksumFlag]: 1 },
    };
    return { body: await promisify(zstdCompress)(body, options), contentType: 'application/zstd' };
  },
};

/** The file as it is stored: `sha256` is that of the compressed bytes. */
export async function compressed(file: BatchFile, compression: TextCompression): Promise<BatchFile> {
  if (compression === 'none') return file;
  const packed = await pack[compression](file.body);
  return { ...file, ...packed, sha256: createHash('sha256').update(packed.body).digest('hex') };
}
