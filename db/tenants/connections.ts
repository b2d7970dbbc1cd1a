// Connections for tenants: each acts as the role of the tenants, and sees the rows of one organization, the one whose work it was
// taken for (pool-turns.ts). What does not belong to an organization's work sees nothing on them.
import type pg from 'pg';
import { alsoInTransactions } from '../connections/per-transaction.ts';
import { actingOrganization, eitherWay } from '../connections/pool-turns.ts';
import { ORGANIZATION_SETTING } from './policies.ts';

const SET = `select set_config('${ORGANIZATION_SETTING}', $1, false), current_user::text as role`;

type Bind = (client: pg.PoolClient, organizationId: string) => Promise<void>;

/**
 * Sets each connection of a pool to the organization it is taken for, before it is handed out; nobody gets one that is set to
 * another.
 * @param role as which its connections act, by their settings
 * @param transactionPooler whether a pooler in transaction mode stands between
 */
export function bindToOrganizations(pool: pg.Pool, role: string, transactionPooler = false): void {
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const bind = transactionPooler ? bindTransactions : bindSessions(role);

  async function connectBound(organizationId: string): Promise<pg.PoolClient> {
    const client = await connect();
    try {
      await bind(client, organizationId);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  pool.connect = eitherWay(() => connectBound(actingOrganization() ?? ''));
}

/**
 * What a session was set to is remembered, so that only a change costs a round trip.
 * Failure policy: a connection that does not act as the role is not handed out, because no policy would bind it.
 */
function bindSessions(role: string): Bind {
  const bound = new WeakMap<pg.PoolClient, string>();
  return async (client, organizationId) => {
    if (bound.get(client) === organizationId) return;
    bound.delete(client);
    const { rows } = await client.query<{ role: string }>(SET, [organizationId]);
    if (rows[0]?.role !== role) throw new Error(notActing(role, rows[0]?.role));
    bound.set(client, organizationId);
  };
}

/** Each of its transactions begins with the role and the organization, or fails. */
const bindTransactions: Bind = async (client, organizationId) =>
  alsoInTransactions(client, { [ORGANIZATION_SETTING]: organizationId });

const notActing = (role: string, actual = 'nobody'): string =>
  `A connection for tenants acts as ${actual} instead of ${role}: its settings were lost; see docs/poolers.md`;
