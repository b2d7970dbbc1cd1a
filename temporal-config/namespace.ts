// The namespace and the search attributes Hookyard needs; created when missing, on the embedded server and on others.
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorService, WorkflowService } from '@temporalio/client';
import { searchAttributeNames } from '../core/search-attributes.ts';
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

/** A `Connection` of the client or a `NativeConnection` of the worker. */
export interface ServerConnection {
  workflowService: WorkflowService;
  operatorService: OperatorService;
}

/**
 * Makes the namespace (retention 3 days) and its search attributes when they are missing, and waits until they can be used.
 * Safe to call at every start and by several processes at once.
 * @param log gets one line when the server forbids reading or writing them (Temporal Cloud): then both must exist already
 * @throws Error when the server cannot be reached, or the attributes are not usable after 60 s
 */
export async function ensureNamespace(
  connection: ServerConnection,
  namespace: string,
  log: (line: string) => void = () => {},
): Promise<void> {
  const until = performance.now() + usableDeadlineMs;
  for (;;) {
    try {
      await registerNamespace(connection, namespace);
      await addMissingAttributes(connection, namespace);
      await queryByAttributes(connection, namespace);
      return;
    } catch (error) {
      if (isRefusal(error)) return log(refusal(namespace));
      if (!isTransient(error) || performance.now() > until) throw error;
    }
    await delay(100);
  }
}

/** The visibility columns that hold the namespace's search attributes: `Keyword01`, ... The server chooses them at random. */
export async function searchAttributeColumns(connection: ServerConnection, namespace: string): Promise<string[]> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return Object.keys(config?.customSearchAttributeAliases ?? {});
}

/** Whether the namespace exists and its search attributes can be used. @throws when the server cannot be reached */
export async function takesAttributes(connection: ServerConnection, namespace: string): Promise<boolean> {
  try {
    await queryByAttributes(connection, namespace);
    return true;
  } catch (error) {
    const code = grpcStatus(error);
    if (code === grpcCode.notFound || code === grpcCode.invalidArgument) return false;
    throw error;
  }
}

async function registerNamespace({ workflowService }: ServerConnection, namespace: string): Promise<void> {
  try {
    await workflowService.describeNamespace({ namespace });
    return;
  } catch (error) {
    if (grpcStatus(error) !== grpcCode.notFound) throw error;
  }
  try {
    await workflowService.registerNamespace({
      namespace,
      description: 'Hookyard: webhook deliveries',
      workflowExecutionRetentionPeriod: msToTs(retentionMs),
    });
  } catch (error) {
    if (grpcStatus(error) !== grpcCode.alreadyExists) throw error;
  }
}

async function addMissingAttributes({ operatorService }: ServerConnection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributeNames.filter((name) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  const keyword = 2; // INDEXED_VALUE_TYPE_KEYWORD of temporal.api.enums.v1
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])),
    });
  } catch (error) {
    if (grpcStatus(error) !== grpcCode.alreadyExists) throw error;
  }
}

/** Refused until the server's caches know the attributes. */
async function queryByAttributes({ workflowService }: ServerConnection, namespace: string): Promise<void> {
  const query = searchAttributeNames.map((name) => `${name} = "none"`).join(' AND ');
  await workflowService.countWorkflowExecutions({ namespace, query });
}

/** Errors of a server whose caches lag behind the registration, or that is still starting. */
function isTransient(error: unknown): boolean {
  const code = grpcStatus(error);
  return code === grpcCode.notFound || code === grpcCode.invalidArgument || code === grpcCode.unavailable;
}

function refusal(namespace: string): string {
  return `Temporal does not let this client set up namespace ${namespace}; it must exist and have the Keyword search attributes ${searchAttributeNames.join(', ')}`;
}

function isRefusal(error: unknown): boolean {
  const code = grpcStatus(error);
  return code === grpcCode.permissionDenied || code === grpcCode.unimplemented || code === grpcCode.unauthenticated;
}

function grpcStatus(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;
}
