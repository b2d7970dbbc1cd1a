// The interface of object store providers. A new provider is its config in core/warehouse/config.ts, a file that opens
// stores, a line in index.ts, a row in errors.ts if it has codes of its own, and a row in the conformance suite
// (test/conformance/warehouses.test.ts).
import type { DescribedError, ErrorSummary } from '../../core/text/error-summary.ts';
import { dataKeyOf } from '../../core/warehouse/files-and-keys.ts';
import type { OperatorR2 } from '../../core/warehouse/operator-access.ts';
import type { GuardedHttp } from './guarded-http.ts';

export type ObjectName = { key: string; contentType: string };

/** Names in lowercase letters, digits and underscores (Azure takes no others), values in ASCII. */
export type ObjectMetadata = Readonly<Record<string, string>>;

export type StoredObject = ObjectName & { body: Buffer; metadata: ObjectMetadata };

/**
 * An object that is sent in parts, one after the other. It appears, or replaces an existing one, when it is complete.
 */
export interface PartsUnderWay {
  /** All have the same size but the last. */
  send(part: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * @param metadata what the store takes of it: S3, R2 and Google want to know it at the beginning, when nobody knows
   * it
   */
  complete(last: Buffer, metadata: ObjectMetadata, signal: AbortSignal): Promise<void>;
  /** Removes what was sent, if the store does not do so by itself. */
  abort(signal: AbortSignal): Promise<void>;
}

export type ObjectHead = {
  /** Bytes. */
  size: number;
  contentType: string;
  metadata: Record<string, string>;
};

export type StoreProblem = DescribedError & {
  kind:
    | 'credentials'
    | 'permission'
    | 'no_bucket'
    | 'region'
    | 'clock'
    | 'busy'
    | 'unreachable'
    | 'refused'
    | 'timeout'
    | 'settings'
    | 'closed'
    | 'other';
  statusCode?: number;
  /** False when the same call would fail again until somebody fixes something. */
  retryable: boolean;
};

export interface ObjectStore {
  put(object: StoredObject, signal: AbortSignal): Promise<void>;
  begin(object: ObjectName, signal: AbortSignal): Promise<PartsUnderWay>;
  /**
   * Reads what is known about an object, without its body; null when there is none (S3 does not tell a missing bucket
   * apart here).
   */
  head(key: string, signal: AbortSignal): Promise<ObjectHead | null>;
  /** Explains an error of these. */
  describeError(error: unknown): StoreProblem;
}

/**
 * Opens a store; loads the provider's SDK, and connects to nothing yet.
 * @throws StoreSettingsError when a setting is missing
 */
export type OpenStore<Config> = (config: Config, http: GuardedHttp, user: StoreUser) => Promise<ObjectStore>;

/** Who opens a store, and what of the operator's access may be used for it. */
export interface StoreUser {
  organizationId: string;
  r2: OperatorR2;
}

/**
 * The identity of this service gave no credentials. What its provider said may name things of the operator, so it is
 * not shown.
 */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  constructor(cause: unknown) {
    super('The service identity returned no credentials', { cause });
  }
}

export async function asIdentity<Credentials>(ask: () => Promise<Credentials>): Promise<Credentials> {
  try {
    return await ask();
  } catch (error) {
    throw new IdentityError(error);
  }
}

/** A setting is missing or contradicts another; the message is for the user. */
export class StoreSettingsError extends Error {
  override readonly name = 'StoreSettingsError';
  readonly summary: ErrorSummary;
  constructor(summary: ErrorSummary) {
    super(summary);
    this.summary = summary;
  }
}

/**
 * A store that writes and looks only where a target may with access of the operator.
 * @param refusal the error elsewhere
 */
export function withinGrants(
  store: ObjectStore,
  isGranted: (key: string) => boolean,
  refusal: ErrorSummary,
): ObjectStore {
  const requireGranted = (key: string): void => {
    // Who may write to a folder may test it.
    if (!isGranted(key) && !isGranted(dataKeyOf(key) ?? key)) throw new StoreSettingsError(refusal);
  };
  return {
    ...store,
    async put(object, signal) {
      requireGranted(object.key);
      await store.put(object, signal);
    },
    async begin(object, signal) {
      requireGranted(object.key);
      return store.begin(object, signal);
    },
    async head(key, signal) {
      requireGranted(key);
      return store.head(key, signal);
    },
  };
}
