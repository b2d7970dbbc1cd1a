// Whether the service has more than one organization: defaults that suit one machine with one user end there.
import type { Settings } from '../../core/config.ts';
import { LOOPBACK_BACK, LOOPBACK_ENDED, LOOPBACK_FOR_ONE } from '../../core/loopback-default.ts';
import { PollLoop } from '../../core/poll-loop.ts';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { throttled } from '../../core/throttled-log.ts';
import type { Queryable } from '../connections/pool.ts';

export interface OrganizationWatch {
  /** Known since the start, and at most a few seconds old. */
  areSeveral(): boolean;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 3000;

/**
 * Looks now and every few seconds; each process does, since an organization may be made by any.
 * Failure policy: a failed first look is thrown; after a later one, what was found before stays in force.
 */
export async function watchOrganizations(
  db: Queryable,
  settings: Pick<Settings, 'HOOKYARD_DELIVERY_ALLOW'>,
  log: Log,
): Promise<OrganizationWatch> {
  const opensLoopback = settings.HOOKYARD_DELIVERY_ALLOW.includes(LOOPBACK_FOR_ONE);
  let several = false;
  const look = async () => {
    const before = several;
    several = await hasSeveral(db);
    if (!opensLoopback || several === before) return;
    if (several) log.warn(LOOPBACK_ENDED);
    else log.info(LOOPBACK_BACK);
  };
  await look();
  const rest = { ms: LOOK_EVERY_MS };
  const loop = new PollLoop({
    round: async () => {
      await look();
      return rest;
    },
    onError: (error) => {
      throttled(log).warn({ cause: causeOf(error) }, 'organizations could not be counted; trying again');
      return rest;
    },
  });
  return { areSeveral: () => several, stop: () => loop.stop() };
}

async function hasSeveral(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: number }>({
    name: 'count-organizations',
    text: 'select count(*)::int as found from (select from organizations limit 2) as counted',
  });
  return (rows[0]?.found ?? 0) > 1;
}
