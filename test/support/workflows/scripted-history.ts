// What a scripted delivery (scripted-attempts.ts) has left: its attempts, its end, and the events of its history.
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { status } from '../../../workflows/signals-and-queries.ts';
import type { ScriptedDelivery } from './scripted-attempts.ts';

interface Run {
  handle: Pick<WorkflowHandle, 'fetchHistory' | 'query'>;
}

export const policyOf = (maxRetries: number) => ({ maxRetries, initialDelay: 10, maxDelay: 10, backoffMultiplier: 1 });

export function attemptNumbers(delivery: ScriptedDelivery): number[] {
  return delivery.attempts.map((attempt) => attempt.attempt);
}

export async function hasStatus(delivery: ScriptedDelivery, wanted: string): Promise<boolean> {
  return (await delivery.handle.query(status)).status === wanted;
}

/** Why the workflow failed. @throws when it did not */
export async function failureOf(delivery: ScriptedDelivery): Promise<Error | undefined> {
  try {
    await delivery.handle.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError) return error.cause;
    throw error;
  }
  throw new Error('The workflow did not fail');
}

export interface ExportedEvent {
  eventType: string;
  timerStartedEventAttributes?: { startToFireTimeout: string };
  activityTaskScheduledEventAttributes?: { startToCloseTimeout: string };
  workflowTaskFailedEventAttributes?: { failure?: { message?: string } };
}

export async function exportedEvents({ handle }: Run): Promise<ExportedEvent[]> {
  const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as { events: ExportedEvent[] };
  return history.events;
}

export async function eventCounts(run: Run): Promise<(type: string) => number> {
  const events = await exportedEvents(run);
  return (type) => events.filter((event) => event.eventType === type).length;
}

/** Lengths of the timers in the order in which they were started, ms. */
export async function timerLengths(run: Run): Promise<number[]> {
  const events = await exportedEvents(run);
  return events.flatMap(({ timerStartedEventAttributes: timer }) =>
    timer ? [Math.round(Number.parseFloat(timer.startToFireTimeout) * 1000)] : [],
  );
}

export async function currentDetails({ handle }: Run): Promise<string> {
  return (await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata')).currentDetails;
}

export async function tells(run: Run, text: string): Promise<boolean> {
  return (await currentDetails(run)).includes(text);
}
