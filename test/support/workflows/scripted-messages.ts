// A Temporal worker with the real workflow `message` and activities that follow a script, on a real server.
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { MessageActivities, MessageOutcome, MessageRequest } from '../../../activities/types.ts';
import { messageTaskQueue } from '../../../core/temporal/names.ts';
import { newId } from '../../../core/text/ids.ts';
import type { message } from '../../../workflows/message.ts';
import { startWorkers } from './scripted-workers.ts';

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

export async function startScriptedMessages(taskQueue: string): Promise<ScriptedMessages> {
  const scripts = new Map<string, { steps: Step[]; givenUp: string[] }>();
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
  const { client, stop } = await startWorkers(taskQueue, {
    [messageTaskQueue(taskQueue, 'mail')]: activities,
    [messageTaskQueue(taskQueue, 'http')]: activities,
  });
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
    stop,
  };
}
