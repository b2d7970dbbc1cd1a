// A Temporal worker with the real workflow `message` and activities that follow a script, on a real server.
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { MessageActivities, MessageOutcome, MessageRequest } from '../../../activities/types.ts';
import { messageTaskQueue } from '../../../core/temporal/names.ts';
import { newId } from '../../../core/text/ids.ts';
import { bundleWorkflows } from '../../../worker/temporal/workflow-bundle.ts';
import type { message } from '../../../workflows/message.ts';
import { quietLogger } from '../servers/quiet-temporal.ts';
import { stackAddresses } from '../stack.ts';

type Step = MessageOutcome | Error;

export interface ScriptedMessage {
  handle: WorkflowHandleWithFirstExecutionRunId<typeof message>;
  /** Reasons for which it was given up. */
  givenUp: string[];
}

export interface ScriptedMessages {
  /** Starts a message; its tries to send do what `steps` say, in turn. */
  start(steps: Step[], request?: Pick<MessageRequest, 'to' | 'via'>): Promise<ScriptedMessage>;
  stop(): Promise<void>;
}

// Stands in every history; a fixed text keeps exported ones free of the machine they were made on.
const IDENTITY = 'hookyard-test';

/** @param taskQueue its own for each test file, so that files cannot take each other's tasks */
export async function startScriptedMessages(taskQueue: string): Promise<ScriptedMessages> {
  const { temporalAddress: address, namespace } = stackAddresses();
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection, namespace, identity: IDENTITY });
  const scripts = new Map<string, { steps: Step[]; givenUp: string[] }>();
  const common = { connection, namespace, identity: IDENTITY };
  const activities: MessageActivities = {
    async sendMessage({ messageId }) {
      const step = scripts.get(messageId)?.steps.shift();
      if (step === undefined) throw new Error('The script has no further try');
      if (step instanceof Error) throw step;
      return step;
    },
    async giveUpMessage({ messageId, reason }) {
      scripts.get(messageId)?.givenUp.push(reason);
    },
  };
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowBundle: await bundleWorkflows(quietLogger) }),
    Worker.create({ ...common, taskQueue: messageTaskQueue(taskQueue, 'mail'), activities }),
    Worker.create({ ...common, taskQueue: messageTaskQueue(taskQueue, 'http'), activities }),
  ]);
  const ended = Promise.all(workers.map((worker) => worker.run()));
  return {
    async start(steps, { to, via } = { to: 'route', via: 'mail' }) {
      const request = { organizationId: newId('org'), messageId: newId('alm'), to, via };
      const script = { steps: [...steps], givenUp: [] };
      scripts.set(request.messageId, script);
      const handle = await client.workflow.start<typeof message>('message', {
        taskQueue,
        workflowId: `message:${request.messageId}`,
        args: [request],
        staticSummary: 'Notification: failure',
      });
      return { handle, givenUp: script.givenUp };
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await ended;
      await Promise.all([connection.close(), clientConnection.close()]);
    },
  };
}
