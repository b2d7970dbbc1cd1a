// A database that can be read and not written, as after a failover to a standby: for one database of the shared server.
import { createPool } from '../../../db/connections/pool.ts';
import { stackAddresses } from '../stack.ts';

export interface ReadOnlySwitch {
  /** From here on the database takes no writes; clients have to reconnect. */
  on(): Promise<void>;
  /** New connections may write again. Those that were made meanwhile may not. */
  off(): Promise<void>;
}

export function readOnlySwitch(databaseUrl: string): ReadOnlySwitch {
  const name = new URL(databaseUrl).pathname.slice(1);
  const administer = async (...statements: string[]) => {
    const pool = createPool(stackAddresses().databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {} });
    try {
      for (const statement of statements) await pool.query(statement);
    } finally {
      await pool.end();
    }
  };
  return {
    on: () =>
      administer(
        `alter database "${name}" set default_transaction_read_only = on`,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      ),
    off: () => administer(`alter database "${name}" reset default_transaction_read_only`),
  };
}
