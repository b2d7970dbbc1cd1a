// The client of Temporal of one installation. What it names there gets the prefix of the installation, so that several
// can share a namespace. While the namespace has no search attributes, it starts workflows without them: Temporal
// refuses unknown ones.
import {
  Client,
  type ClientOptions,
  Connection,
  type ScheduleClientInterceptor,
  type WorkflowClientInterceptor,
  type WorkflowStartInput,
} from '@temporalio/client';
import { TASK_QUEUE, withPrefix } from '../core/temporal/names.ts';
import { clientOptions, type TemporalConnection } from './connection.ts';
import { isRefusal } from './workflows.ts';

export interface AttributeState {
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
