// What stands between the sender and the APIs, and between the processes and PostgreSQL, as docs/operate/install.md and
// docs/operate/postgresql.md have it.
import type { Service } from '../../local/process.ts';
import { startBalancer, whyNoHaproxy } from '../support/servers/haproxy.ts';
import { startPgBouncer, whyNoPgBouncer } from '../support/servers/pgbouncer.ts';
import type { Extra } from './schedule.ts';

const POOLER = {
  pool_mode: 'transaction',
  default_pool_size: '10',
  max_client_conn: '500',
  query_wait_timeout: '10',
  server_login_retry: '1',
};

/** @returns what is not installed on this machine, and how to install it */
export function whatIsMissing(extras: readonly Extra[]): string[] {
  const reasons = [extras.includes('balancer') && whyNoHaproxy(), extras.includes('pooler') && whyNoPgBouncer()];
  return reasons.filter((reason) => typeof reason === 'string');
}

/** haproxy before the APIs. @param ports of them, which serve already */
export async function startBalancerPart(ports: number[]): Promise<{ service: Service; url: string }> {
  const balancer = await startBalancer(ports);
  return { service: serviceOf(balancer, balancer.close), url: balancer.url };
}

/** PgBouncer in transaction mode. @param databaseUrl without it */
export async function startPoolerPart(databaseUrl: string): Promise<{ service: Service; databaseUrl: string }> {
  const pooler = await startPgBouncer(databaseUrl, POOLER);
  return { service: serviceOf(pooler, pooler.stop), databaseUrl: pooler.databaseUrl };
}

/** @param stop ends it for good */
function serviceOf(program: Omit<Service, 'stop'>, stop: () => Promise<void>): Service {
  // A run that is ended by force leaves none behind.
  const killed = () => void (program.pid !== undefined && process.kill(program.pid, 'SIGKILL'));
  process.once('exit', killed);
  return {
    get pid() {
      return program.pid;
    },
    get exited() {
      return program.exited;
    },
    start: () => program.start(),
    kill: () => program.kill(),
    async stop() {
      await stop();
      process.off('exit', killed);
    },
  };
}
