// How large a row and a file may become: a mapping or a transform may make payloads many times larger.

const MIB = 1024 * 1024;

/** A larger row is not written: it has to fit in memory with others. */
export const MAX_ROW_BYTES = 64 * MIB;

/** Of a file before it is compressed. @param payloadBytes of its events */
export const fileLimit = (payloadBytes: number): number => Math.max(MAX_ROW_BYTES, 2 * payloadBytes);

/** A file, or one row of it, would be larger. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  constructor(limit = MAX_ROW_BYTES) {
    super(`The file would be larger than ${Math.floor(limit / MIB)} MiB`);
  }
}
