// The API key of Temporal while the worker runs: the SDK keeps the one that its connection was made with, until it is told another.
import type { NativeConnection } from '@temporalio/worker';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import type { TemporalConnection } from '../temporal-config/connection.ts';
import { type Watch, watch } from './watch.ts';

const LOOK_EVERY_MS = 1000;

/**
 * Tells a connection when the file of the key holds another. Requests from then on have that.
 * @param first what the connection was made with
 */
export function keepApiKey(
  connection: NativeConnection,
  { currentApiKey }: Pick<TemporalConnection, 'currentApiKey'>,
  first: string | undefined,
  log: Log,
): Watch {
  if (currentApiKey === undefined) return { stop: async () => {} };
  let told = first;
  return watch(
    async () => {
      const key = currentApiKey();
      if (key === told) return false;
      await connection.setApiKey(key);
      told = key;
      log.info('the API key of Temporal was replaced by that of its file');
      return false;
    },
    {
      everyMs: LOOK_EVERY_MS,
      onError: (error) =>
        throttled(log).warn({ cause: causeOf(error) }, 'the API key of Temporal cannot be replaced; trying again'),
    },
  );
}
