// The limits of an organization: names, units, defaults per plan. An operator's override per limit is stored with the
// organization (organizations.limits) and is in force without a restart.
import type { Plan } from '../config/plans-and-scopes.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** One row per limit: what it counts, and the default of each plan. Null: no limit. */
export const LIMITS = {
  eventsPerSecond: { unit: 'accepted webhooks per second', free: 50, pro: 500, business: null },
  eventsPerMonth: {
    unit: 'events per calendar month (UTC)',
    free: 100_000,
    pro: 10_000_000,
    business: null,
  },
  payloadBytes: { unit: 'bytes per webhook', free: MIB, pro: 10 * MIB, business: null },
  deliveriesPerEvent: { unit: 'deliveries per event', free: 20, pro: 200, business: 5000 },
  routesPerSource: { unit: 'routes per source', free: 20, pro: 200, business: 1000 },
  destinations: { unit: 'destinations', free: 50, pro: 1000, business: 100_000 },
  sources: { unit: 'sources', free: 20, pro: 500, business: 50_000 },
  filters: { unit: 'filters', free: 50, pro: 1000, business: 50_000 },
  transforms: { unit: 'transforms', free: 20, pro: 500, business: 10_000 },
  schemas: { unit: 'schemas', free: 20, pro: 500, business: 10_000 },
  alertChannels: { unit: 'alert channels', free: 5, pro: 20, business: 100 },
  apiKeys: { unit: 'unexpired API keys', free: 10, pro: 100, business: 1000 },
  waitingDeliveries: { unit: 'unfinished deliveries', free: 50_000, pro: 500_000, business: null },
  storedBytes: { unit: 'bytes of stored payloads', free: 5 * GIB, pro: 100 * GIB, business: null },
  transformMsPerMinute: {
    unit: 'milliseconds of transform time per minute per worker',
    free: 6000,
    pro: 30_000,
    business: null,
  },
  requestsPerMinute: { unit: 'API requests per minute per process', free: 300, pro: 1200, business: 30_000 },
  runningReplays: { unit: 'concurrent event replays', free: 1, pro: 4, business: 20 },
  replayedPerSecond: {
    unit: 'deliveries per second created by event replays',
    free: 50,
    pro: 500,
    business: 1000,
  },
  runningImports: { unit: 'concurrent imports per process', free: 1, pro: 2, business: 4 },
  runningSearches: { unit: 'concurrent searches per process', free: 1, pro: 2, business: 4 },
  runningTests: { unit: 'concurrent destination and alert channel tests per process', free: 2, pro: 5, business: 20 },
  runningStreams: { unit: 'concurrent event streams per process', free: 2, pro: 10, business: 50 },
} as const satisfies Record<string, { unit: string } & Record<Plan, number | null>>;

export type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[];

/** Number.POSITIVE_INFINITY: no limit. */
export type Limits = Readonly<Record<LimitName, number>>;
/** What an operator has set for an organization; null: no limit. Names of another release are ignored. */
export type LimitOverrides = Readonly<Partial<Record<LimitName, number | null>>>;

/** The limits in force: the override where one is set, else the plan's default. */
export function limitsOf(plan: Plan, overrides: LimitOverrides): Limits {
  const limits = {} as Record<LimitName, number>;
  for (const name of LIMIT_NAMES) {
    const override = overrides[name];
    limits[name] = (override === undefined ? LIMITS[name][plan] : override) ?? Number.POSITIVE_INFINITY;
  }
  return limits;
}
