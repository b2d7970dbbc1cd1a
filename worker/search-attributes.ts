// Whether the namespace has the search attributes. Without them deliveries continue: workflows start without, are found by their ids
// only, and failed deliveries do not wait in Temporal for a replay. When they appear, later workflows carry them again.
import type { NativeConnection } from '@temporalio/worker';
import type { Log } from '../core/log.ts';
import { searchAttributeNames } from '../core/search-attributes.ts';
import type { AttributeState } from '../temporal-config/client.ts';
import { lookAtNamespace } from '../temporal-config/namespace.ts';
import { watch } from './watch.ts';

const LOOK_EVERY_MS = 10_000;
const DEADLINE_MS = 3000;

export interface AttributeWatch extends AttributeState {
  /** Whether Temporal knows the namespace, as of the last look. */
  readonly hasNamespace: boolean;
  stop(): Promise<void>;
}

/**
 * Resolves after the first look.
 * Failure policy: while Temporal is away, what was known last stays; nothing can be started then.
 */
export async function watchAttributes(
  connection: NativeConnection,
  namespace: string,
  log: Log,
): Promise<AttributeWatch> {
  let missing = false;
  let hasNamespace = true;

  async function look(): Promise<boolean> {
    const state = await connection.withDeadline(Date.now() + DEADLINE_MS, () => lookAtNamespace(connection, namespace));
    hasNamespace = state !== 'unknown';
    // An unknown one is made again, with its attributes (schedules.ts).
    if (hasNamespace) found(state === 'bare');
    return !missing;
  }

  function found(now: boolean): void {
    if (now && !missing)
      log.warn(
        { namespace, searchAttributes: searchAttributeNames },
        'the namespace in Temporal lacks search attributes: workflows start without them',
      );
    if (!now && missing) log.info({ namespace }, 'the namespace in Temporal has its search attributes again');
    missing = now;
  }

  await look().catch(() => undefined);
  const loop = watch(
    async () => {
      if (missing) await look();
      return false;
    },
    { everyMs: LOOK_EVERY_MS, onError: () => {} },
  );
  return {
    get missing() {
      return missing;
    },
    get hasNamespace() {
      return hasNamespace;
    },
    look,
    stop: () => loop.stop(),
  };
}
