// Workflows that break with the recorded histories on purpose: they show that the replay tests can fail.
import { sleep } from '@temporalio/workflow';
import * as workflows from '../../../workflows/index.ts';

/** The workflow after a wait that no history has. */
const delayed =
  <Input, Result>(workflow: (input: Input) => Promise<Result>) =>
  async (input: Input): Promise<Result> => {
    await sleep(1000);
    return workflow(input);
  };

export const circuit = delayed(workflows.circuit);
export const delivery = delayed(workflows.delivery);
export const maintenance = delayed(workflows.maintenance);
export const message = delayed(workflows.message);
export const reconcile = delayed(workflows.reconcile);
export const replay = delayed(workflows.replay);
export const warehouseFlush = delayed(workflows.warehouseFlush);
