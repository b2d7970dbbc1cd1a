// Bytes in pieces of one size, however they came: of the same file always the same pieces.

export class Pieces {
  readonly #size: number;
  #held: Uint8Array[] = [];
  #bytes = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** @returns the pieces that are full; what may be the last piece is held back */
  *add(bytes: Uint8Array): Generator<Buffer, void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#bytes === this.#size) yield this.rest();
      const some = bytes.subarray(from, from + this.#size - this.#bytes);
      this.#held.push(some);
      this.#bytes += some.length;
      from += some.length;
    }
  }

  /** The last piece; empty only when nothing came. */
  rest(): Buffer {
    const piece = Buffer.concat(this.#held);
    this.#held = [];
    this.#bytes = 0;
    return piece;
  }
}
