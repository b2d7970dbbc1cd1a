// How large a file may become.

/** What a mapping or a transform makes larger is not written: it would not fit in memory with others. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A file, or one row of it, would be larger. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  constructor() {
    super(`The file would be larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
  }
}
