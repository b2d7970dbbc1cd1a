// What a scripted delivery (scripted-attempts.ts) has left: its attempts, its end, and the events of its history.
import { WorkflowFailedError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { status } from '../../../workflows/signals-and-queries.ts';
import type { ScriptedCircuit, ScriptedDelivery } from './scripted-attempts.ts';

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

export async function exportedEvents(
  delivery: Pick<ScriptedCircuit, 'handle'> | Pick<ScriptedDelivery, 'handle'>,
): Promise<ExportedEvent[]> {
  const history = JSON.parse(historyToJSON(await delivery.handle.fetchHistory())) as { events: ExportedEvent[] };
  return history.events;
}

export async function eventCounts(
  delivery: Pick<ScriptedCircuit, 'handle'> | Pick<ScriptedDelivery, 'handle'>,
): Promise<(type: string) => number> {
  const events = await exportedEvents(delivery);
  return (type) => events.filter((event) => event.eventType === type).length;
}

/** Lengths of the timers in the order in which they were started, ms. */
export async function timerLengths(delivery: ScriptedDelivery): Promise<number[]> {
  const events = await exportedEvents(delivery);
  return events.flatMap(({ timerStartedEventAttributes: timer }) =>
    timer ? [Math.round(Number.parseFloat(timer.startToFireTimeout) * 1000)] : [],
  );
}

export async function currentDetails({ handle }: Pick<ScriptedDelivery, 'handle'>): Promise<string> {
  return (await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata')).currentDetails;
}

export async function tells(delivery: ScriptedDelivery, text: string): Promise<boolean> {
  return (await currentDetails(delivery)).includes(text);
}
