// A Temporal worker with the real workflow `message` and activities that follow a script, on a real server.
import type { MessageActivities, MessageOutcome, MessageRequest } from '../../../activities/types.ts';
import { messageTaskQueue } from '../../../core/temporal/names.ts';
import { newId } from '../../../core/text/ids.ts';
import type { message } from '../../../workflows/message.ts';
import { nextOf, startWorkers } from './scripted-workers.ts';

type Step = MessageOutcome | Error;

export type ScriptedMessages = Awaited<ReturnType<typeof startScriptedMessages>>;
export type ScriptedMessage = Awaited<ReturnType<ScriptedMessages['start']>>;

export async function startScriptedMessages(taskQueue: string) {
  const scripts = new Map<string, { steps: Step[]; givenUp: string[] }>();
  const activities: MessageActivities = {
    sendMessage: ({ messageId }) => nextOf<MessageOutcome>(scripts.get(messageId)?.steps ?? [], 'try'),
    async giveUpMessage({ messageId, reason }) {
      scripts.get(messageId)?.givenUp.push(reason);
    },
  };
  const { client, stop } = await startWorkers(taskQueue, {
    [messageTaskQueue(taskQueue, 'mail')]: activities,
    [messageTaskQueue(taskQueue, 'http')]: activities,
  });
  return {
    /** Starts a message; its tries to send do what `steps` say, in turn. */
    async start(steps: Step[], { to, via }: Pick<MessageRequest, 'to' | 'via'> = { to: 'route', via: 'mail' }) {
      const request = { organizationId: newId('org'), messageId: newId('alm'), to, via };
      /** Reasons for which it was given up. */
      const givenUp: string[] = [];
      scripts.set(request.messageId, { steps: [...steps], givenUp });
      const handle = await client.workflow.start<typeof message>('message', {
        taskQueue,
        workflowId: `message:${request.messageId}`,
        args: [request],
        staticSummary: 'Notification: failure',
      });
      return { handle, givenUp };
    },
    stop,
  };
}
