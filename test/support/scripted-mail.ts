// A Temporal worker with the real workflows notify and alert and activities that follow a script, on a real server.
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type {
  AlertActivities,
  AlertOutcome,
  AlertRequest,
  NotificationOutcome,
  NotificationRequest,
  NotifyActivities,
} from '../../activities/types.ts';
import { newId } from '../../core/text/ids.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { alertTaskQueue, mailTaskQueue } from '../../core/temporal/workflow-names.ts';
import type { alert } from '../../workflows/alert.ts';
import type { notify } from '../../workflows/notify.ts';
import { quietLogger } from './quiet-temporal.ts';
import { stackAddresses } from './stack.ts';

export interface ScriptedNotification {
  handle: WorkflowHandleWithFirstExecutionRunId<typeof notify>;
  request: NotificationRequest;
  /** Reasons of the mails given up. */
  dropped: string[];
}

export interface ScriptedMail {
  /** Starts a notification; its tries to send do what `steps` say, in turn. */
  start(steps: (NotificationOutcome | Error)[]): Promise<ScriptedNotification>;
  /** Starts a message to a channel in the same way. */
  startAlert(steps: (AlertOutcome | Error)[]): Promise<ScriptedAlert>;
  stop(): Promise<void>;
}

export interface ScriptedAlert {
  handle: WorkflowHandleWithFirstExecutionRunId<typeof alert>;
  request: AlertRequest;
  /** Reasons of the messages given up. */
  givenUp: string[];
}

// Stands in every history; a fixed text keeps exported ones free of the machine they were made on.
const IDENTITY = 'hookyard-test';

/** @param taskQueue its own for each test file, so that files cannot take each other's tasks */
export async function startScriptedMail(taskQueue: string): Promise<ScriptedMail> {
  const { temporalAddress: address, namespace } = stackAddresses();
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection, namespace, identity: IDENTITY });
  const scripts = new Map<string, { steps: (NotificationOutcome | Error)[]; dropped: string[] }>();
  const alerts = new Map<string, AlertScript>();
  const common = { connection, namespace, identity: IDENTITY };
  const workflowBundle = await bundleWorkflows(quietLogger);
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowBundle }),
    Worker.create({ ...common, taskQueue: mailTaskQueue(taskQueue), activities: scriptedActivities(scripts) }),
    Worker.create({ ...common, taskQueue: alertTaskQueue(taskQueue), activities: scriptedAlerts(alerts) }),
  ]);
  const ended = Promise.all(workers.map((worker) => worker.run()));
  return {
    async start(steps) {
      const request = { routeId: newId('rte'), kind: 'failure' as const };
      const script = { steps: [...steps], dropped: [] };
      scripts.set(request.routeId, script);
      const handle = await client.workflow.start<typeof notify>('notify', {
        taskQueue,
        workflowId: `notify:${request.routeId}:failure`,
        args: [request],
        staticSummary: 'Notification: failure',
      });
      return { handle, request, dropped: script.dropped };
    },
    async startAlert(steps) {
      const request = { organizationId: newId('org'), messageId: newId('alm') };
      const script = { steps: [...steps], givenUp: [] };
      alerts.set(request.messageId, script);
      const handle = await client.workflow.start<typeof alert>('alert', {
        taskQueue,
        workflowId: `alert:${newId('alc')}:${request.messageId}`,
        args: [request],
        staticSummary: 'Alert: opened',
      });
      return { handle, request, givenUp: script.givenUp };
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await ended;
      await Promise.all([connection.close(), clientConnection.close()]);
    },
  };
}

interface AlertScript {
  steps: (AlertOutcome | Error)[];
  givenUp: string[];
}

function scriptedAlerts(scripts: Map<string, AlertScript>): AlertActivities {
  return {
    async sendAlert({ messageId }) {
      const step = scripts.get(messageId)?.steps.shift();
      if (step === undefined) throw new Error('The script has no further try');
      if (step instanceof Error) throw step;
      return step;
    },
    async giveUpAlert({ messageId, reason }) {
      scripts.get(messageId)?.givenUp.push(reason);
    },
  };
}

function scriptedActivities(
  scripts: Map<string, { steps: (NotificationOutcome | Error)[]; dropped: string[] }>,
): NotifyActivities {
  return {
    async sendNotification({ routeId }) {
      const step = scripts.get(routeId)?.steps.shift();
      if (step === undefined) throw new Error('The script has no further try');
      if (step instanceof Error) throw step;
      return step;
    },
    async dropNotification({ routeId, reason }) {
      scripts.get(routeId)?.dropped.push(reason);
    },
  };
}
