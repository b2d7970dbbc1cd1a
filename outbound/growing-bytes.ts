// The beginning of what somebody else sends, in one buffer. Pieces are copied: each one that was kept would be an object of its own,
// and hold the memory that it was read into.
export class GrowingBytes {
  readonly #limit: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** @param limit bytes that are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Buffer): void {
    const length = Math.min(this.#length + piece.length, this.#limit);
    if (length > this.#buffer.length) this.#grow(length);
    piece.copy(this.#buffer, this.#length, 0, length - this.#length);
    this.#length = length;
  }

  /** Valid until more is added. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(least: number): void {
    const before = this.bytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(Math.max(least, 2 * this.#length), this.#limit));
    before.copy(this.#buffer);
  }
}
