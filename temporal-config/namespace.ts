// The namespace and the search attributes Hookyard needs; created when missing, on the embedded server and on others.
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorService, WorkflowService } from '@temporalio/client';
import { searchAttributeNames } from '../core/temporal/names.ts';
import { msToTs } from '@temporalio/common/lib/time.js';

const retentionMs = 3 * 24 * 3_600_000;
const usableDeadlineMs = 60_000;

/** gRPC status codes, https://grpc.io/docs/guides/status-codes/ */
const grpcCode = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
};

export interface ServerConnection {
  workflowService: WorkflowService;
  operatorService: OperatorService;
}

/** `complete`: it has every search attribute. `bare`: it lacks some, or all. */
export type NamespaceState = 'complete' | 'bare' | 'unknown';

/**
 * Safe to call at every start and by several processes at once.
 * @param log gets one line when the namespace lacks search attributes and the server does not let this client make them
 * @throws Error when the server cannot be reached, there is no namespace, or what was made is not usable after 60 s
 */
export async function ensureNamespace(
  connection: ServerConnection,
  namespace: string,
  log: (line: string) => void = () => {},
): Promise<void> {
  const until = performance.now() + usableDeadlineMs;
  for (;;) {
    try {
      const refused = await setUp(connection, namespace);
      const state = await lookAtNamespace(connection, namespace);
      if (state === 'complete') return;
      if (refused !== null) return afterRefusal(namespace, state, refused, log);
      if (performance.now() > until)
        throw new Error(`The Temporal namespace ${namespace} was not ready after ${usableDeadlineMs / 1000} s`);
    } catch (error) {
      // Not even whether they are there may be asked.
      if (isRefusal(error)) return log(refusal(namespace, messageOf(error)));
      // The server's caches may lag behind the registration, or it is still starting.
      const isTransient = hasCode(error, grpcCode.notFound, grpcCode.unavailable);
      if (!isTransient || performance.now() > until) throw error;
    }
    await delay(100);
  }
}

function afterRefusal(namespace: string, state: NamespaceState, refused: string, log: (line: string) => void): void {
  if (state === 'unknown')
    throw new Error(
      `Temporal has no namespace ${namespace} and does not allow this client to create it (${refused}); create the namespace, or set TEMPORAL_NAMESPACE to an existing one`,
    );
  log(refusal(namespace, refused));
}

/** @returns why something could not be made; null: all is there, but may not be usable yet */
async function setUp(connection: ServerConnection, namespace: string): Promise<string | null> {
  try {
    await registerNamespace(connection, namespace);
    await addMissingAttributes(connection, namespace);
    return null;
  } catch (error) {
    // An invalid argument: a namespace has room for ten search attributes of this type, or takes another form of names.
    if (isRefusal(error) || hasCode(error, grpcCode.invalidArgument)) return messageOf(error);
    throw error;
  }
}

/** @throws when the server cannot be reached, or does not let this client ask */
export async function lookAtNamespace(connection: ServerConnection, namespace: string): Promise<NamespaceState> {
  // Refused until the server's caches know the attributes.
  const query = searchAttributeNames.map((name) => `${name} = "none"`).join(' AND ');
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return 'complete';
  } catch (error) {
    if (hasCode(error, grpcCode.notFound)) return 'unknown';
    if (hasCode(error, grpcCode.invalidArgument)) return 'bare';
    throw error;
  }
}

/**
 * The visibility columns that hold search attributes: `Keyword01`, ... The server chooses them at random for each
 * namespace.
 */
export async function columnsOfAllNamespaces({ workflowService }: ServerConnection): Promise<string[]> {
  const columns = new Set<string>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listNamespaces({ pageSize: 100, nextPageToken });
    for (const { config } of page.namespaces)
      for (const column of Object.keys(config?.customSearchAttributeAliases ?? {})) columns.add(column);
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
  return [...columns];
}

async function registerNamespace({ workflowService }: ServerConnection, namespace: string): Promise<void> {
  const isThere = await workflowService.describeNamespace({ namespace }).catch((error) => {
    if (!hasCode(error, grpcCode.notFound)) throw error;
  });
  if (isThere) return;
  const registration = {
    namespace,
    description: 'Hookyard: webhook deliveries',
    workflowExecutionRetentionPeriod: msToTs(retentionMs),
  };
  await workflowService.registerNamespace(registration).catch(unlessMade);
}

async function addMissingAttributes({ operatorService }: ServerConnection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributeNames.filter((name) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  const keyword = 2; // INDEXED_VALUE_TYPE_KEYWORD of temporal.api.enums.v1
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, keyword]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(unlessMade);
}

/** Several processes may set up the namespace at once. */
function unlessMade(error: unknown): void {
  if (!hasCode(error, grpcCode.alreadyExists)) throw error;
}

function refusal(namespace: string, why: string): string {
  return `${why}; the namespace ${namespace} should have the Keyword search attributes ${searchAttributeNames.join(', ')}`;
}

const messageOf = (error: unknown): string =>
  error instanceof Error && 'details' in error && typeof error.details === 'string' ? error.details : String(error);

const isRefusal = (error: unknown): boolean =>
  hasCode(error, grpcCode.permissionDenied, grpcCode.unimplemented, grpcCode.unauthenticated);

const hasCode = (error: unknown, ...codes: unknown[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(error.code);
