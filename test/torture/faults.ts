// How each fault is done and undone.
import pg from 'pg';
import { createRandom } from './random.ts';
import type { Receiver } from './receivers.ts';
import type { Fault, FaultKind } from './schedule.ts';
import type { Instance } from './instance.ts';
import { forgetWorkers } from '../support/rows.ts';

// The server allows 200; further connections are refused, as if all were taken.
const MOST_CONNECTIONS = 250;
const CONNECT_AT_ONCE = 20;
const LATEST_ANSWER_MS = 6500;

/** What faults are done to. */
export interface Victims {
  instance: Instance;
  /** By name. */
  receivers: Map<string, Receiver>;
}

/** Both may fail only when the run itself is broken. `undo` may be called at any time after `begin` was. */
interface FaultAction {
  begin(): Promise<void>;
  undo(): Promise<void>;
}

/** What is to be done for a fault; nothing has been done yet. */
export function faultAction(fault: Fault, victims: Victims): FaultAction {
  if (fault.kind.startsWith('receiver')) return receiverAction(fault, victims);
  switch (fault.kind) {
    case 'PostgreSQL backend killed':
      return atOnce(() => killBackend(victims.instance.databaseUrl, fault.seconds));
    case 'PostgreSQL connections used up':
      return connectionsAction(victims.instance.databaseUrl);
    case 'leases expired':
      return atOnce(() => expireLeases(victims.instance.databaseUrl));
    default:
      return processAction(fault, victims.instance);
  }
}

const atOnce = (begin: () => Promise<void>): FaultAction => ({ begin, undo: async () => {} });

function processAction({ kind, target }: Fault, instance: Instance): FaultAction {
  const part = instance.parts.get(target);
  if (!part) throw new Error(`there is no process ${target}`);
  const undo = () => part.start();
  const how = kind.split(' ').slice(1).join(' ');
  if (how === 'killed') return { begin: () => part.kill(), undo };
  if (how === 'restarted') return { begin: () => part.stop(), undo };
  // PostgreSQL's immediate shutdown: no checkpoint, the next start replays the log.
  if (how === 'shut down at once') return { begin: () => part.end('SIGQUIT'), undo };
  return {
    begin: async () => part.freeze(target === 'postgres' ? await backends(instance.databaseUrl) : []),
    undo: async () => part.thaw(),
  };
}

function receiverAction({ kind, target, seconds }: Fault, { receivers }: Victims): FaultAction {
  const receiver = receivers.get(target);
  if (!receiver) throw new Error(`there is no receiver ${target}`);
  const ways: Partial<Record<FaultKind, () => Promise<void> | void>> = {
    'receiver refuses connections': () => receiver.refuse(),
    'receiver resets connections': () => receiver.reset(),
    // Some later than their destination's deadline of 5 s.
    'receiver answers late': () => receiver.delay(createRandom(seconds * 1000).between(200, LATEST_ANSWER_MS)),
  };
  return { begin: async () => ways[kind]?.(), undo: () => receiver.mend() };
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  client.on('error', () => {}); // the statement under way rejects as well
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Process ids of all other processes of the server. */
function backends(databaseUrl: string): Promise<number[]> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where pid <> pg_backend_pid()',
    );
    return rows.map((row) => row.pid);
  });
}

/** Kills one connection's process; the server then ends all others and replays its log. */
async function killBackend(databaseUrl: string, seed: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`,
    );
    process.kill(createRandom(seed).pick(rows).pid, 'SIGKILL');
  });
}

/** As if every worker had been taken for dead. */
async function expireLeases(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) => forgetWorkers(client));
}

/** Takes every connection the server has left, each in a transaction that does nothing. */
function connectionsAction(databaseUrl: string): FaultAction {
  const clients: pg.Client[] = [];
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
    client.on('error', () => {});
    try {
      await client.connect();
      clients.push(client);
      await client.query('begin');
      await client.query('select');
      return true;
    } catch {
      return false;
    }
  };
  return {
    async begin() {
      for (let full = false; !full && clients.length < MOST_CONNECTIONS; ) {
        const taken = await Promise.all(Array.from({ length: CONNECT_AT_ONCE }, take));
        full = taken.includes(false);
      }
    },
    async undo() {
      await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    },
  };
}
