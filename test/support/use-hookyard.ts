// The set-up of a test file. What a hook makes can be used in hooks and tests that follow it.
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { Circuits } from './workflows/circuits.ts';
import {
  type CommonSettings,
  type Hookyard,
  type OwnHookyard,
  type Servers,
  sharedHookyard,
  startHookyard,
} from './hookyard.ts';
import { historyDatabase } from './database/history.ts';
import { Ledger } from './workflows/ledger.ts';
import { type OwnDatabase, ownDatabase } from './database/own-database.ts';
import { type Answer, type Endpoint, type Receiver, startReceiver } from './receiver.ts';
import { Records } from './records.ts';
import {
  createOrganization,
  type ProcessSettings,
  type Service,
  startService,
  type TestOrganization,
} from './service.ts';

/** A source that is routed to a receiver, and the ledger of what is sent to it. */
export type Line = Awaited<ReturnType<Records['pipe']>> & { endpoint: Endpoint; ledger: Ledger };

export interface Suite<Instance extends Hookyard> {
  testInstance: Instance;
  records: Records;
  circuits: Circuits;
  receiver: Receiver;
  /** @param answers of the receiver, the last one for all further requests */
  line(answers?: Answer[], fields?: Parameters<Records['pipe']>[1]): Promise<Line>;
}

export interface OwnOptions {
  /** Of all its processes. */
  settings?: CommonSettings;
  /** One worker for each, started one after the other; none by default. */
  workers?: ProcessSettings[];
  /** The servers it runs on, which hooks before it have started; by default those of the stack. */
  servers?: () => Servers;
}

/**
 * Starts a Hookyard before the tests of this `describe`, and ends it after them.
 * @param own processes, database and namespace of its own, for tests that kill processes or choose settings: what runs
 * at the end of a test is left to the next, which says what it needs (`onlyWorkers`). By default it is the one that
 * such files share, with an organization of its own
 */
export function useHookyard(): Suite<Hookyard>;
export function useHookyard(own: OwnOptions): Suite<OwnHookyard>;
export function useHookyard(own?: OwnOptions): Suite<Hookyard> {
  let made: { testInstance: Hookyard; receiver: Receiver } | undefined;
  before('a Hookyard is started', async () => {
    const [testInstance, receiver] = await Promise.all([own ? startOwn(own) : sharedHookyard(), startReceiver()]);
    made = { testInstance, receiver };
  });
  after('the Hookyard is ended', () => Promise.all([made?.testInstance.close(), made?.receiver.close()]));
  const testInstance = late(() => made?.testInstance);
  const receiver = late(() => made?.receiver);
  const records = new Records(testInstance);
  return {
    testInstance,
    records,
    circuits: new Circuits(testInstance, records),
    receiver,
    async line(answers = [], fields = {}) {
      const endpoint = receiver.endpoint(...answers);
      const pipe = await records.pipe(endpoint.url, fields);
      return { ...pipe, endpoint, ledger: new Ledger(records, pipe.source, endpoint) };
    },
  };
}

async function startOwn({ settings = {}, workers = [], servers }: OwnOptions): Promise<OwnHookyard> {
  const testInstance = await startHookyard(servers?.(), settings);
  try {
    for (const worker of workers) await testInstance.startWorker(worker);
    return testInstance;
  } catch (error) {
    await testInstance.close();
    throw error;
  }
}

/** An organization, by default on the API that test files share. */
export const useOrganization = (on?: () => Parameters<typeof createOrganization>[0]): TestOrganization =>
  useMade('an organization', () => createOrganization(on?.()));

export const useReceiver = (): Receiver => useStarted(startReceiver);

/** A process of its own. */
export const useService = (...process: Parameters<typeof startService>): Service =>
  useStarted(() => startService(...process));

/** A migrated database of its own, on the server of the stack. */
export const useDatabase = (...named: Parameters<typeof ownDatabase>): { database: OwnDatabase; pool: Pool } =>
  withPool(useStarted(() => ownDatabase(...named)));

/** The same with partitions for days of history. */
export const useHistoryDatabase = (days: number): { database: OwnDatabase; pool: Pool } =>
  withPool(useStarted(() => historyDatabase(days)));

const withPool = (database: OwnDatabase) => ({ database, pool: late(() => database.pool) });

/** What is stopped or closed after the tests. */
export const useStarted = <Made extends { stop(): Promise<unknown> } | { close(): Promise<unknown> }>(
  start: () => Promise<Made>,
): Made => useMade('what the tests need', start, (made) => ('stop' in made ? made.stop() : made.close()));

/** A pool of its own on a database; with `hotPath`, as ingest and workers have it. */
export const usePool = (
  database: { databaseUrl: string },
  options: Partial<Parameters<typeof createPool>[1]> = {},
): Pool =>
  useMade(
    'a pool',
    async () => createPool(database.databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {}, ...options }),
    (pool) => pool.end(),
  );

/** Makes something before the tests of this `describe`, and ends it after them. */
export function useMade<Made extends object>(
  what: string,
  make: () => Promise<Made>,
  end: (made: Made) => Promise<unknown> = async () => {},
): Made {
  let made: Made | undefined;
  before(`${what} is made`, async () => {
    made = await make();
  });
  after(async () => {
    if (made) await end(made);
  });
  return late(() => made);
}

/** Makes something anew before each test of this `describe`. */
export function useEach<Made extends object>(make: () => Promise<Made>): Made {
  let made: Made | undefined;
  beforeEach(async () => {
    made = await make();
  });
  return late(() => made);
}

/** Stands for what will have been made when it is used: its members are read from that. */
export function late<Made extends object>(find: () => Made | undefined): Made {
  const get = (): Made => {
    const made = find();
    if (made) return made;
    throw new Error('What a hook makes is there in hooks and tests that follow, not before');
  };
  return new Proxy({} as Made, {
    get(_target, name) {
      const made = get();
      const value: unknown = Reflect.get(made, name);
      return typeof value === 'function' ? value.bind(made) : value;
    },
    set: (_target, name, value) => Reflect.set(get(), name, value),
    has: (_target, name) => Reflect.has(get(), name),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor(_target, name) {
      const descriptor = Reflect.getOwnPropertyDescriptor(get(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}
