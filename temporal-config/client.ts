// The connection to Temporal, and the client of one installation. What it names there gets the prefix of the installation, so that several
// can share a namespace. While the namespace has no search attributes, it starts workflows without them: Temporal
// refuses unknown ones.
import {
  type ConnectionOptions,
  Client,
  type ClientOptions,
  Connection,
  type ScheduleClientInterceptor,
  type WorkflowClientInterceptor,
  type WorkflowStartInput,
} from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { currentSecret } from '../core/config/secret-files.ts';
import { TASK_QUEUE, withPrefix } from '../core/temporal/names.ts';
import { isRefusal } from './workflows.ts';

// How every process reaches Temporal: the SDK's own environment variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_API_KEY, TEMPORAL_TLS_*), with the embedded server as the default.

export interface TemporalConnection {
  /** For `NativeConnection.connect`. */
  connectionOptions: NativeConnectionOptions & { address: string };
  namespace: string;
  /** Of TEMPORAL_API_KEY_FILE, as it is now: the file may be replaced. */
  currentApiKey?: () => string;
}

/**
 * Channel options of the SDK's client connection, which would otherwise use the proxies named by `http_proxy` and its
 * kin, for an embedded server too. Workers' connections never do.
 */
export const WITHOUT_PROXY = { 'grpc.enable_http_proxy': 0 };

/** For `Connection.connect` and `Connection.lazy`. */
export function clientOptions({ connectionOptions }: TemporalConnection): ConnectionOptions & { address: string } {
  const { grpcCompression: _forWorkers, ...others } = connectionOptions;
  return { ...others, channelArgs: WITHOUT_PROXY };
}

/**
 * For a connection of a worker that is made now. worker/temporal/upkeep.ts gives it each later key.
 */
export function nativeOptions({ connectionOptions, currentApiKey }: TemporalConnection): NativeConnectionOptions {
  return { ...connectionOptions, ...(currentApiKey && { apiKey: currentApiKey() }) };
}

export const defaultNamespace = 'hookyard';
const defaultAddress = '127.0.0.1:7233';

/** @throws Error when a certificate file named by TEMPORAL_TLS_* cannot be read */
export function temporalConnectionOptions(env: Record<string, string | undefined> = process.env): TemporalConnection {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value) set[name] = value;
  const { connectionOptions, namespace } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: set });
  const address = connectionOptions.address ?? defaultAddress;
  return {
    // Compression saves bandwidth on a network and only costs CPU on one machine.
    connectionOptions: {
      ...connectionOptions,
      address,
      ...(isLoopback(address) && { grpcCompression: { codec: 'none' } }),
    },
    namespace: namespace ?? defaultNamespace,
    ...(env.TEMPORAL_API_KEY_FILE && { currentApiKey: currentSecret(env, 'TEMPORAL_API_KEY') }),
  };
}

function isLoopback(address: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i.test(address);
}

interface AttributeState {
  readonly missing: boolean;
  look(): Promise<boolean>;
}

const NOT_WATCHED: AttributeState = { missing: false, look: async () => true };

interface InstallationOptions extends Omit<ClientOptions, 'interceptors'> {
  prefix: string;
  attributes?: AttributeState;
  /**
   * Whether the first task of a workflow may come back with the answer to its start. Not to versioned workers: Temporal
   * 1.31 gives it to any of them.
   */
  startsEagerly?: boolean;
}

/**
 * Callers name workflows, schedules and task queues without the prefix, here and in handles. What Temporal lists has
 * it, and lists hold workflows of other installations too: a query asks for `workflowQueue`, which only those of this
 * one use.
 */
export class InstallationClient extends Client {
  readonly prefix: string;
  readonly attributes: AttributeState;
  readonly startsEagerly: boolean;
  readonly workflowQueue: string;

  constructor({ prefix, attributes = NOT_WATCHED, startsEagerly = true, ...options }: InstallationOptions) {
    super({
      ...options,
      interceptors: { workflow: [namesWorkflows(prefix, attributes)], schedule: [namesSchedules(prefix)] },
    });
    this.prefix = prefix;
    this.attributes = attributes;
    this.startsEagerly = startsEagerly;
    this.workflowQueue = withPrefix(prefix, TASK_QUEUE);
  }
}

/** A client that connects at its first call: the API starts, and ingest works, while Temporal is down. */
export function lazyClient(
  temporal: TemporalConnection,
  options: Pick<InstallationOptions, 'dataConverter' | 'prefix'>,
): InstallationClient {
  const { apiKey, ...others } = clientOptions(temporal);
  const connection = Connection.lazy({ ...others, apiKey: temporal.currentApiKey ?? apiKey });
  return new InstallationClient({ ...options, connection, namespace: temporal.namespace });
}

function namesWorkflows(prefix: string, attributes: AttributeState): WorkflowClientInterceptor {
  type Start = Pick<WorkflowStartInput, 'options'>;
  type Reference = { workflowExecution: { workflowId: string } };
  const ownStart = <Input extends Start>(input: Input): Input => ({
    ...input,
    options: {
      ...input.options,
      workflowId: withPrefix(prefix, input.options.workflowId),
      taskQueue: withPrefix(prefix, input.options.taskQueue),
    },
  });
  const own = <Input extends Reference>(input: Input): Input => {
    const { workflowExecution } = input;
    const workflowId = withPrefix(prefix, workflowExecution.workflowId);
    return { ...input, workflowExecution: { ...workflowExecution, workflowId } };
  };
  const start = <Input extends Start, Result>(input: Input, next: (input: Input) => Promise<Result>) =>
    startWithOrWithout(attributes, ownStart(input), next);
  return {
    startWithDetails: start,
    signalWithStart: start,
    signal: (input, next) => next(own(input)),
    query: (input, next) => next(own(input)),
    terminate: (input, next) => next(own(input)),
    cancel: (input, next) => next(own(input)),
    describe: (input, next) => next(own(input)),
  };
}

function namesSchedules(prefix: string): ScheduleClientInterceptor {
  return {
    create({ options, ...input }, next) {
      const { workflowId, taskQueue } = options.action;
      const named = { workflowId: withPrefix(prefix, workflowId), taskQueue: withPrefix(prefix, taskQueue) };
      const scheduleId = withPrefix(prefix, options.scheduleId);
      return next({ ...input, options: { ...options, scheduleId, action: { ...options.action, ...named } } });
    },
  };
}

/** A workflow that was started without search attributes sets none later (workflows/delivery-attempt.ts). */
async function startWithOrWithout<Input extends Pick<WorkflowStartInput, 'options'>, Result>(
  attributes: AttributeState,
  input: Input,
  next: (input: Input) => Promise<Result>,
): Promise<Result> {
  const without = { ...input, options: { ...input.options, typedSearchAttributes: undefined } };
  if (attributes.missing) return next(without);
  try {
    return await next(input);
  } catch (error) {
    // Something else may be wrong with it: its words are those of a version of Temporal, so the namespace is asked.
    if (!isRefusal(error) || (await attributes.look())) throw error;
    return next(without);
  }
}
