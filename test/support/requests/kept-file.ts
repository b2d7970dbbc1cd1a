// Takes the bytes of a warehouse file, for tests that have no store.
import type { FileSink } from '../../../core/warehouse/files-and-keys.ts';

export class KeptFile implements FileSink {
  readonly #parts: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(Buffer.from(bytes));
  }

  get body(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
