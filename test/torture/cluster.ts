// PostgreSQL with a standby that every commit waits for. When the standby takes the place of a server that died, the
// address of the first server leads to it, as a floating address does.
import { join } from 'node:path';
import pg from 'pg';
import type { Service } from '../../local/process.ts';
import { type Standby, startStandby } from '../support/servers/standby.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';

// The standby asks so often for a primary that is away; every commit waits until it has found it.
const FINDS_AGAIN = `alter system set wal_retrieve_retry_interval = '500ms'`;

export class Cluster {
  /** Whichever server takes writes. */
  readonly service: Service;
  readonly #dataDir: string;
  readonly #port: number;
  #primary: { service: Service; url: string };
  #standby: Standby | undefined;
  /** The server that takes writes, when it was a standby. */
  #promoted: Standby | undefined;
  #address: TcpProxy | undefined;
  #made = 0;

  /**
   * @param first its address is that of whichever server takes writes
   * @param databaseUrl of it, as its superuser
   * @param dataDir a folder for the standbys
   */
  constructor(first: Service, databaseUrl: string, dataDir: string) {
    this.#primary = { service: first, url: databaseUrl };
    this.#port = Number(new URL(databaseUrl).port);
    this.#dataDir = dataDir;
    const primary = () => this.#primary.service;
    this.service = {
      get pid() {
        return primary().pid;
      },
      get exited() {
        return primary().exited;
      },
      start: () => primary().start(),
      stop: () => primary().stop(),
      kill: () => primary().kill(),
    };
  }

  /** Makes a standby; from then on commits wait for it. */
  async follow(): Promise<void> {
    this.#made += 1;
    const { url } = this.#primary;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // The standby has it with everything else that it copies.
    await client.query(FINDS_AGAIN).finally(() => client.end());
    const dataDir = join(this.#dataDir, `standby-${this.#made}`);
    this.#standby = await startStandby(url, dataDir, { isSynchronous: true });
  }

  /** The standby takes the place of the server that took writes, which has ended. */
  async promote(): Promise<void> {
    const standby = this.#standby;
    if (!standby) throw new Error('there is no standby to promote');
    this.#standby = undefined;
    await standby.promote();
    this.#primary = { service: standby.postgres.service, url: standby.postgres.url('hookyard') };
    if (this.#address) this.#address.leadTo(standby.address);
    else this.#address = await startTcpProxy(standby.address, this.#port);
    await this.#promoted?.remove();
    this.#promoted = standby;
  }

  /** Ends what is left when the service has been stopped. */
  async close(): Promise<void> {
    await this.#standby?.postgres.service.stop();
    await this.#address?.close();
  }
}
