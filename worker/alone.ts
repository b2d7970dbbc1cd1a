// Whether there is only one organization, looked up from time to time: then it may take every place.
import type { Log } from '../core/log.ts';
import { isAlone } from '../db/organizations/alone.ts';
import type { Pool } from '../db/pool.ts';
import { watch } from './watch.ts';

const LOOK_EVERY_MS = 2000;

export interface AloneWatch {
  /** False until it is known. */
  alone: () => boolean;
  stop(): Promise<void>;
}

/** Failure policy: while the database is away, the last answer stays valid. */
export function watchAlone(pool: Pool, log: Log): AloneWatch {
  let last = false;
  const watching = watch(
    async () => {
      last = await isAlone(pool);
      return false;
    },
    {
      everyMs: LOOK_EVERY_MS,
      onError: (error) => log.debug({ error: String(error) }, 'whether there are several organizations is not known'),
    },
  );
  return { alone: () => last, stop: () => watching.stop() };
}
