// Temporal workers with the real workflows, on a real server, whose activities follow a script.
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { temporalDataConverter } from '../../../temporal-config/payload-codec.ts';
import { bundleWorkflows } from '../../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../servers/quiet-temporal.ts';
import { stackAddresses } from '../stack.ts';

// Stands in every history; a fixed text keeps exported ones free of the machine they were made on.
const identity = 'hookyard-test';

/**
 * @param taskQueue of the workflows; its own for each test file, so that files cannot take each other's tasks
 * @param activities by their task queues
 */
export async function startWorkers(taskQueue: string, activities: Record<string, object>) {
  const { temporalAddress: address, namespace } = stackAddresses();
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  const workflowBundle = await bundleWorkflows(quietLogger);
  const common = { connection, namespace, identity, dataConverter: temporalDataConverter('off', []) };
  const workers = await Promise.all(
    Array.from(new Set([taskQueue, ...Object.keys(activities)]), (queue) =>
      Worker.create({
        ...common,
        taskQueue: queue,
        ...(queue === taskQueue && { workflowBundle }),
        ...(activities[queue] && { activities: activities[queue] }),
      }),
    ),
  );
  const ended = Promise.all(workers.map((worker) => worker.run()));
  return {
    client: new Client({ connection: clientConnection, namespace, identity }),
    async stop() {
      for (const worker of workers) worker.shutdown();
      await ended;
      await Promise.all([connection.close(), clientConnection.close()]);
    },
  };
}

/** The next step of a script. @throws the error that it says, or that it has ended */
export async function nextOf<Step>(steps: (Step | Error | Promise<Step>)[], what: string): Promise<Step> {
  const step = await steps.shift();
  if (step === undefined) throw new Error(`The script has no further ${what}`);
  if (step instanceof Error) throw step;
  return step;
}
