// Errors of the embedded stack for users: one clear sentence, no stack trace.

/** A start-up problem the user can solve; `message` is one line that names what to do or which variable to set. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartupError';
  }
}

/** A port was free when it was chosen, and taken when a server wanted to listen on it. */
export class PortTakenError extends StartupError {}

export type Log = (line: string) => void;

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function oneLine(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(oneLine).join('; ');
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

export function explainFileError(error: unknown, dataDir: string): unknown {
  if (/No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/.test(oneLine(error))) return diskFull(dataDir);
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StartupError(
        `The data folder ${dataDir} is not writable (${oneLine(error)}); fix its owner or permissions, or set HOOKYARD_DATA_DIR to another folder`,
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new StartupError(
        `The data folder ${dataDir} is not a folder (${oneLine(error)}); set HOOKYARD_DATA_DIR to a folder`,
      );
    default:
      return error;
  }
}

export function diskFull(dataDir: string): StartupError {
  return new StartupError(
    `The disk that contains ${dataDir} is full; free some space, or set HOOKYARD_DATA_DIR to a folder on another disk`,
  );
}

/** @param text what was done, in the past tense; printed with the seconds it took */
export async function phase<T>(log: Log, text: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  log(`${text} (${seconds(performance.now() - began)})`);
  return result;
}

/** Milliseconds as `1.2 s`, from a minute on as `3 min 4 s`. */
export function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
