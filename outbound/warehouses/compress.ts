// Compresses the file of a batch, beside the event loop. One Node on one kind of processor gives the same bytes for the same file: Node
// writes no time and no name into the header of gzip, and the compressor gets pieces that are the same each time.
// Rules: WH-32.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, createZstdCompress, gzip, type ZstdOptions, zstdCompress } from 'node:zlib';
import type { FileSink } from '../../core/warehouse/file.ts';
import type { TextCompression } from '../../core/warehouse/object-key.ts';
import { Pieces } from './pieces.ts';

/** A larger file is compressed piece by piece. */
export const WHOLE_BYTES = 16 * 1024 * 1024;
// Less to join at the end than with zlib's 16 KiB.
const CHUNK_BYTES = 256 * 1024;
const GZIP = { chunkSize: CHUNK_BYTES };
const ZSTD: ZstdOptions = { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_checksumFlag]: 1 } };

const compressors = {
  gzip: { whole: (bytes: Buffer) => promisify(gzip)(bytes, GZIP), stream: () => createGzip(GZIP) },
  zstd: {
    // Size and checksum are in the frame: readers know how much memory they need, and notice damage.
    whole: (bytes: Buffer) => promisify(zstdCompress)(bytes, { ...ZSTD, pledgedSrcSize: bytes.length }),
    stream: () => createZstdCompress(ZSTD),
  },
};

/** A sink whose bytes go on compressed. */
export class CompressedSink implements FileSink {
  readonly #compressor: (typeof compressors)[keyof typeof compressors];
  readonly #sink: FileSink;
  readonly #pieces = new Pieces(WHOLE_BYTES);
  #stream: CompressedStream | null = null;

  constructor(compression: Exclude<TextCompression, 'none'>, sink: FileSink) {
    this.#compressor = compressors[compression];
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (const piece of this.#pieces.add(bytes)) {
      this.#stream ??= new CompressedStream(this.#compressor.stream(), this.#sink);
      await this.#stream.write(piece);
    }
  }

  /** Nothing is written after it. */
  async end(): Promise<void> {
    const rest = this.#pieces.rest();
    if (this.#stream === null) return this.#sink.write(await this.#compressor.whole(rest));
    await this.#stream.write(rest);
    await this.#stream.end();
  }
}

class CompressedStream {
  readonly #stream: Transform;
  readonly #done: Promise<void>;

  constructor(stream: Transform, sink: FileSink) {
    this.#stream = stream;
    this.#done = (async () => {
      for await (const chunk of stream) await sink.write(chunk as Buffer);
    })();
    // It is waited for by each write.
    this.#done.catch(() => undefined);
  }

  /** @throws what the sink has thrown */
  async write(bytes: Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve) => this.#stream.write(bytes, () => resolve()));
    await Promise.race([written, this.#done]);
    if (this.#stream.destroyed) await this.#done;
  }

  async end(): Promise<void> {
    this.#stream.end();
    await this.#done;
  }
}
