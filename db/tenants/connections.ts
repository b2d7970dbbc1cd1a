// Connections for tenants: each acts as the role of the tenants, and sees the rows of one organization, the one whose work it was
// taken for (pool-turns.ts). What does not belong to an organization's work sees nothing on them.
import type pg from 'pg';
import { actingOrganization, eitherWay } from '../connections/pool-turns.ts';
import { ORGANIZATION_SETTING } from './policies.ts';

/** The start option of a connection that acts as a role (PostgreSQL manual, 19.1.3 and SET ROLE). */
export function actAs(role: string): string {
  return `-c role=${role.replaceAll(/[\\\s]/g, '\\$&')}`;
}

const SET = `select set_config('${ORGANIZATION_SETTING}', $1, false), current_user::text as role`;

/**
 * Sets each connection of a pool to the organization it is taken for, before it is handed out; nobody gets one that is set to
 * another. What it was set to is remembered, so that only a change costs a round trip. What a pooler between must do is said in
 * docs/connections.md.
 * Failure policy: a connection that does not act as the role is not handed out. A pooler may have dropped the start option, and
 * then no policy would bind the connection.
 * @param role as which its connections act (actAs)
 */
export function bindToOrganizations(pool: pg.Pool, role: string): void {
  const bound = new WeakMap<pg.PoolClient, string>();
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;

  async function connectBound(organizationId: string): Promise<pg.PoolClient> {
    const client = await connect();
    if (bound.get(client) === organizationId) return client;
    // Nobody else listens at the moment, and an error event without a listener ends the process. The statement fails as well.
    const onError = () => {};
    client.on('error', onError);
    try {
      bound.delete(client);
      const { rows } = await client.query<{ role: string }>(SET, [organizationId]);
      if (rows[0]?.role !== role) throw new Error(notActing(role, rows[0]?.role));
      bound.set(client, organizationId);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    } finally {
      client.off('error', onError);
    }
  }

  pool.connect = eitherWay(() => connectBound(actingOrganization() ?? ''));
}

const notActing = (role: string, actual = 'nobody'): string =>
  `A connection for tenants acts as ${actual} instead of ${role}: its start option was lost; a pooler must pass start parameters on (docs/connections.md)`;
