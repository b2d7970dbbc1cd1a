// The object stores of warehouse destinations: opened when first used, kept by destination and version, called under
// one deadline each, through the address guard.
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { LRUCache } from 'lru-cache';
import type { WarehouseConfig, WarehouseType } from '../../core/warehouse/config.ts';
import {
  isGranted,
  NO_OPERATOR_ACCESS,
  type OperatorAccess,
  operatorsBucket,
} from '../../core/warehouse/operator-access.ts';
import type { AllowList } from '../http/address-guard.ts';
import { guardedConnector, guardOptions, type Reach } from '../http/guarded-connect.ts';
import { openAzureBlob } from './azure-blob.ts';
import { describeStoreError, describeTimeout } from './errors.ts';
import { openGcs } from './gcs.ts';
import {
  type ObjectMetadata,
  type ObjectName,
  type ObjectStore,
  type OpenStore,
  type PartsUnderWay,
  type StoredObject,
  type StoreProblem,
  withinGrants,
} from './store.ts';
import { createGuardedHttp, type GuardedHttp } from './guarded-http.ts';
import { openR2, openS3 } from './s3.ts';

/** One line a provider; its SDK is loaded by `open`, when a destination of the type is first used. */
const providers: { [Type in WarehouseType]: { title: string; open: OpenStore<WarehouseConfig<Type>> } } = {
  s3: { title: 'S3', open: openS3 },
  r2: { title: 'R2', open: openR2 },
  gcs: { title: 'Google Cloud Storage', open: openGcs },
  azure_blob: { title: 'Azure', open: openAzureBlob },
};

export type WarehouseTarget = {
  [Type in WarehouseType]: {
    id: string;
    version: string | number;
    organizationId: string;
    organization: string;
    type: Type;
    config: WarehouseConfig<Type>;
  };
}[WarehouseType];

export type StoreResult<T> = { ok: true; value: T } | ({ ok: false } & StoreProblem);

export type Warehouses = ReturnType<typeof createWarehouses>;

/**
 * An object that is sent in parts (store.ts); it holds its store until it is complete or `abort` has ended. Nothing
 * rejects.
 */
export interface ObjectParts {
  send(part: Buffer, timeoutMs: number): Promise<StoreResult<void>>;
  complete(last: Buffer, metadata: ObjectMetadata, timeoutMs: number): Promise<StoreResult<void>>;
  abort(timeoutMs: number): Promise<void>;
}

type Opened = {
  version: string | number;
  /** The list that its connections were made under. */
  allow: AllowList;
  /** The operator's keys that it may have been opened with; empty for types that have none. */
  keys: string;
  store: Promise<ObjectStore>;
  http: GuardedHttp;
  users: number;
  retired: boolean;
};

const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Makes the object stores of a process. No SDK is loaded before the first call.
 * @param options.maxStores destinations whose clients are kept
 * @param options.access what of the operator's access may be used; by default nothing
 * @throws Error naming an entry of `allow` that cannot be read
 */
export function createWarehouses(options: Reach & { maxStores?: number; access?: OperatorAccess }) {
  const guard = guardOptions(options);
  const connect = guardedConnector({ ...guard, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const access = options.access ?? NO_OPERATOR_ACCESS;
  const stores = new LRUCache<string, Opened>({
    max: options.maxStores ?? 100,
    dispose: (opened, _key, reason) => {
      if (reason === 'evict') retire(opened);
    },
  });
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  function take(target: WarehouseTarget): Opened {
    const { id, organizationId } = target;
    let opened = stores.get(id);
    const keys = operatorsKeys(target, access);
    if (opened?.version !== target.version || opened.allow !== guard.allow() || opened.keys !== keys) {
      if (opened !== undefined) retire(opened);
      const http = createGuardedHttp((to, callback) => connect(to, callback, { organizationId }));
      opened = {
        version: target.version,
        allow: guard.allow(),
        keys,
        store: openStore(target, http, access),
        http,
        users: 0,
        retired: false,
      };
      // A store that could not be opened is tried again by the next call.
      const failed = opened;
      opened.store.catch(() => {
        if (stores.get(id) !== failed) return;
        stores.delete(id);
        retire(failed);
      });
      stores.set(id, opened);
    }
    opened.users++;
    return opened;
  }

  function release(opened: Opened): void {
    opened.users--;
    closeUnused(opened);
  }

  function closing({ type }: WarehouseTarget): { ok: false } & StoreProblem {
    const ending = ownWords`${named(providers[type].title)} cannot be used: the process is shutting down`;
    return { ok: false, kind: 'closed', ...openError(ending), retryable: true };
  }

  async function run<T>(
    { store }: Opened,
    target: WarehouseTarget,
    timeoutMs: number,
    work: Work<T>,
  ): Promise<StoreResult<T>> {
    if (closed) return closing(target);
    const wording = { service: providers[target.type].title };
    const running = withDeadline(timeoutMs, async (signal) => attempt(await store, signal, work));
    const result = running.catch((error: unknown): StoreResult<T> => {
      if (error === DEADLINE) return { ok: false, ...describeTimeout(timeoutMs, wording) };
      return { ok: false, ...describeStoreError(error, { ...NO_WORDING, ...wording }) };
    });
    underWay.add(result);
    try {
      return await result;
    } finally {
      underWay.delete(result);
    }
  }

  async function call<T>(target: WarehouseTarget, timeoutMs: number, work: Work<T>): Promise<StoreResult<T>> {
    if (closed) return closing(target);
    const opened = take(target);
    try {
      return await run(opened, target, timeoutMs, work);
    } finally {
      release(opened);
    }
  }

  function partsOf(opened: Opened, target: WarehouseTarget, parts: PartsUnderWay): ObjectParts {
    return {
      send: (part, timeoutMs) => run(opened, target, timeoutMs, (_store, signal) => parts.send(part, signal)),
      async complete(last, metadata, timeoutMs) {
        const work: Work<void> = (_store, signal) => parts.complete(last, metadata, signal);
        const completed = await run(opened, target, timeoutMs, work);
        if (completed.ok) release(opened);
        return completed;
      },
      async abort(timeoutMs) {
        await run(opened, target, timeoutMs, (_store, signal) => parts.abort(signal));
        release(opened);
      },
    };
  }

  return {
    /** Writes an object, replacing one of the same key. Never rejects: errors are part of the result. */
    put: (target: WarehouseTarget, object: StoredObject, timeoutMs: number) =>
      call(target, timeoutMs, async (store, signal) => {
        await store.put(object, signal);
        return { key: object.key, size: object.body.length };
      }),
    /** Begins an object that is sent in parts. Never rejects. */
    async begin(target: WarehouseTarget, object: ObjectName, timeoutMs: number): Promise<StoreResult<ObjectParts>> {
      if (closed) return closing(target);
      const opened = take(target);
      const begun = await run(opened, target, timeoutMs, (store, signal) => store.begin(object, signal));
      if (begun.ok) return { ok: true, value: partsOf(opened, target, begun.value) };
      release(opened);
      return begun;
    },
    /** Looks at an object; null when there is none. Never rejects. */
    head: (target: WarehouseTarget, key: string, timeoutMs: number) =>
      call(target, timeoutMs, (store, signal) => store.head(key, signal)),
    async close(): Promise<void> {
      closed = true;
      await Promise.all(underWay);
      for (const opened of stores.values()) retire(opened);
      stores.clear();
    },
  };
}

type Work<T> = (store: ObjectStore, signal: AbortSignal) => Promise<T>;

// The problem of a store that could not be opened has no bucket yet.
const NO_WORDING = {
  bucket: 'bucket',
  credentials: 'the credentials',
  address: 'the network',
  permission: 'access',
  region: null,
};

/** They may be replaced while a store is kept. */
const operatorsKeys = ({ type }: WarehouseTarget, { r2 }: OperatorAccess): string =>
  type === 'r2' ? `${r2.accessKeyId} ${r2.secretAccessKey}` : '';

async function openStore(target: WarehouseTarget, http: GuardedHttp, access: OperatorAccess): Promise<ObjectStore> {
  const open = providers[target.type].open as OpenStore<WarehouseTarget['config']>;
  const { type, organization, organizationId, config } = target;
  const store = await open(config, http, { organizationId, r2: access.r2 });
  const bucket = operatorsBucket(target, access.r2);
  if (bucket === null) return store;
  const where = ownWords`${named(bucket)}/${named(config.prefix ?? '')} for this organization`;
  const refusal =
    type === 'r2'
      ? ownWords`Hookyard's R2 keys are not allowed to write to ${where}; set the destination's accessKeyId and secretAccessKey, or ask the operator to allow this location in HOOKYARD_WAREHOUSE_IDENTITY`
      : ownWords`The service identity is not allowed to write to ${where}; set the destination's credentials, or ask the operator to allow this location in HOOKYARD_WAREHOUSE_IDENTITY`;
  return withinGrants(store, (key) => isGranted(access.grants, { type, organization, bucket, key }), refusal);
}

async function attempt<T>(store: ObjectStore, signal: AbortSignal, work: Work<T>): Promise<StoreResult<T>> {
  try {
    return { ok: true, value: await work(store, signal) };
  } catch (error) {
    // The caller that set the deadline reports it.
    signal.throwIfAborted();
    return { ok: false, ...store.describeError(error) };
  }
}

function retire(opened: Opened): void {
  opened.retired = true;
  closeUnused(opened);
}

function closeUnused(opened: Opened): void {
  if (!opened.retired || opened.users > 0) return;
  opened.http.close();
}

const DEADLINE = new Error('The deadline has passed');

/** Ends at the deadline even if the work does not hear its signal, as while a connection is being made. */
async function withDeadline<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      abort.abort(DEADLINE);
      reject(DEADLINE);
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(abort.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
