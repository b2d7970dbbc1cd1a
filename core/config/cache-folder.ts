import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where programs are kept that are obtained once per machine: `${XDG_CACHE_HOME:-~/.cache}/hookyard`. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hookyard');
}
