// Whether the service has more than one organization: defaults that suit one machine with one user end there.
import type { Settings } from '../../core/config/config.ts';
import { LOOPBACK_BACK, LOOPBACK_ENDED, LOOPBACK_FOR_ONE } from '../../core/config/loopback-default.ts';
import { PollLoop } from '../../core/process/poll-loop.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import type { Queryable } from '../connections/pool.ts';

export interface OrganizationWatch {
  /** Known since the start, and at most ten seconds old; three while somebody asks. */
  areSeveral(): boolean;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 10_000;
const LOOK_WHEN_ASKED_MS = 3000;

/** Says in the log when destinations on this machine are closed or open again by default. */
export function tellLoopback(
  { HOOKYARD_DELIVERY_ALLOW: allow }: Pick<Settings, 'HOOKYARD_DELIVERY_ALLOW'>,
  log: Log,
  before: boolean,
  several: boolean,
): void {
  if (several === before || !allow.includes(LOOPBACK_FOR_ONE)) return;
  if (several) log.warn(LOOPBACK_ENDED);
  else log.info(LOOPBACK_BACK);
}

/**
 * Looks now, and every three seconds while somebody asks, else every ten, since an organization may be made by any process. Workers find it when they look at what is due
 * (db/due.ts).
 * Failure policy: a failed first look is thrown; after a later one, what was found before stays in force.
 */
export async function watchOrganizations(
  db: Queryable,
  settings: Pick<Settings, 'HOOKYARD_DELIVERY_ALLOW'>,
  log: Log,
): Promise<OrganizationWatch> {
  let several = false;
  const look = async () => {
    const before = several;
    several = await hasSeveral(db);
    tellLoopback(settings, log, before, several);
  };
  await look();
  const rest = { ms: LOOK_EVERY_MS, nudgedMs: LOOK_WHEN_ASKED_MS };
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
  return {
    areSeveral() {
      loop.nudge();
      return several;
    },
    stop: () => loop.stop(),
  };
}

async function hasSeveral(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: number }>({
    name: 'count-organizations',
    text: 'select count(*)::int as found from (select from organizations limit 2) as counted',
  });
  return (rows[0]?.found ?? 0) > 1;
}
