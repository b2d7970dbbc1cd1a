// What is kept of the body of an answer, however large it is and in however many pieces it comes.

// The most that is read of an answer.
const READ_BYTES = 1024 * 1024;
// What is looked through at a time.
const PART_BYTES = 16 * 1024;

export interface AnswerBody {
  bodyText: string;
  truncated: boolean;
  /** Whether the text that was looked for is in the first MiB. */
  contains: boolean;
}

/** @param keptBytes how much is kept as text */
export function createAnswerReader(keptBytes: number, lookFor: string | undefined) {
  const kept = new GrowingBytes(keptBytes);
  const search = lookFor === undefined ? null : createSearch(lookFor);
  let read = 0;
  return {
    /** @returns false: no more is to be read */
    add(piece: Buffer): boolean {
      kept.add(piece);
      search?.add(piece.subarray(0, Math.max(0, READ_BYTES - read)));
      read += piece.length;
      return read <= READ_BYTES;
    },
    end(): AnswerBody {
      const truncated = read > keptBytes;
      const { bytes } = kept;
      // Cut bytes may end inside a character: without that half.
      const text = truncated ? new TextDecoder().decode(bytes, { stream: true }) : bytes.toString('utf8');
      return { bodyText: text.replaceAll('\0', '\ufffd'), truncated, contains: search?.end() ?? false };
    },
  };
}

/** Looks for a text in pieces, of which it keeps as much as the text may begin in. */
function createSearch(lookFor: string) {
  const text = Buffer.from(lookFor);
  const limit = text.length + PART_BYTES;
  let window = new GrowingBytes(limit);
  let isFound = false;

  function look(): void {
    const { bytes } = window;
    isFound ||= bytes.includes(text);
    window = new GrowingBytes(limit);
    window.add(bytes.subarray(Math.max(0, bytes.length - text.length + 1)));
  }

  return {
    add(piece: Buffer): void {
      for (let at = 0; at < piece.length && !isFound; at += PART_BYTES) {
        const part = piece.subarray(at, at + PART_BYTES);
        if (window.bytes.length + part.length > limit) look();
        window.add(part);
      }
    },
    end(): boolean {
      look();
      return isFound;
    },
  };
}

// The beginning of what somebody else sends, in one buffer. Pieces are copied: each one that was kept would be an
// object of its own, and hold the memory that it was read into.

export class GrowingBytes {
  readonly #limit: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

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
