// Replays recorded histories of workflows.
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** @returns what replaying each history ended with, by its name; undefined when it went well */
export async function replayHistories(
  workflowBundle: WorkflowBundleOption,
  histories: { name: string; text: string }[],
): Promise<Map<string, Error | undefined>> {
  const replayed = histories.map(({ name, text }) => ({ workflowId: name, history: JSON.parse(text) as unknown }));
  const errors = new Map<string, Error | undefined>();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, replayed))
    errors.set(workflowId, error);
  return errors;
}
