// The files of one warehouse destination, one after the other: a batch is frozen when it is due, uploaded until the
// store has it, and its deliveries are recorded. PostgreSQL has the state; this workflow has the timers and decides
// when to retry. One activity writes all files that are due, so a file costs Temporal nothing while many are.
import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { UploadOutcome, WarehouseActivities, WarehouseAdvice, WritingOutcome } from '../activities/types.ts';
import { retryDelay } from '../core/delivery/backoff.ts';
import { paragraphs, plain, signalChoices } from '../core/temporal/operator-markdown.ts';
import { warehouseChanged, type WarehouseInput, warehouseStatus } from './signals-and-queries.ts';
import { warehouseTaskQueue } from '../core/temporal/names.ts';
import { plural } from '../core/text/words.ts';
import { HEARTBEAT_TIMEOUT_MS, isLong, note, UNTIL_DONE } from './own-side.ts';

// While a store is unavailable: 1 s, doubled up to a minute.
const RETRY = { maxRetries: 0, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 };
// While somebody has to fix something; a change of the destination's record is signalled at once.
const RETRY_SLOWLY_MS = 300_000;

interface Run {
  input: WarehouseInput;
  view: WarehouseAdvice | null;
  news: { changed: boolean };
}

type Frozen = Extract<WarehouseAdvice, { state: 'frozen' }>;

/** Ends when nothing waits; the next delivery starts it again (worker/loops/due-workflows.ts). */
export async function warehouseFlush(input: WarehouseInput): Promise<void> {
  const run: Run = { input, view: null, news: { changed: false } };
  setHandler(warehouseStatus, () => run.view, {
    description: 'What is being written, and what the warehouse is waiting for',
  });
  note(warehouseChanged, run.news, 'changed', 'Writes any due files and retries the waiting batch immediately');
  const { organizationId, destinationId } = input;
  for (;;) {
    run.news.changed = false;
    setCurrentDetails('Writing files.');
    const { writeFiles } = activities('Write due files');
    const outcome = await writeFiles({ organizationId, destinationId });
    if (outcome.state === 'refused') run.view = outcome.batch;
    else if (outcome.state !== 'more') run.view = outcome;
    if (outcome.state === 'idle' && !run.news.changed) return;
    if (outcome.state === 'filling') await fill(run, outcome);
    if (outcome.state === 'suspended') await waitForResumption(run, outcome.waitMs);
    if (outcome.state === 'refused') await afterRefusal(run, outcome);
    if (isLong()) await continueAsNew<typeof warehouseFlush>(input);
  }
}

/** Waits before the next upload of a batch, or gives it up. */
async function afterRefusal(
  run: Run,
  { batch, upload }: Pick<Extract<WritingOutcome, { state: 'refused' }>, 'batch' | 'upload'>,
): Promise<void> {
  const { retryMs } = run.input;
  const { batchId, waitingSince, attempts } = batch;
  const leftMs = waitingSince + retryMs - Date.now();
  if (upload.retry === 'never' || leftMs <= 0) return giveUp(run, batchId);
  const waitMs = upload.retry === 'soon' ? retryDelay(RETRY, attempts + 1, Math.random()) : RETRY_SLOWLY_MS;
  await waitForStore(run, batch, upload, Math.min(waitMs, leftMs));
}

async function fill({ news }: Run, { waiting, waitMs }: Extract<WarehouseAdvice, { state: 'filling' }>): Promise<void> {
  const until = new Date(Date.now() + waitMs).toISOString();
  setCurrentDetails(
    paragraphs(
      `At least ${plural(waiting, 'delivery is', 'deliveries are')} waiting for the next file, which will be written when it is full, or at ${until} at the latest.`,
      signalChoices('`warehouseChanged` writes any due files immediately.'),
    ),
  );
  await condition(() => news.changed, waitMs, { summary: 'Until the next file' });
}

async function waitForResumption({ news }: Run, waitMs: number): Promise<void> {
  setCurrentDetails(
    'The organization is **suspended**: no files are written until an operator resumes the organization.',
  );
  await condition(() => news.changed, waitMs, { summary: 'The organization is suspended' });
}

async function waitForStore(
  { news, input }: Run,
  { batchId, events, attempts, waitingSince }: Frozen,
  { error }: Extract<UploadOutcome, { status: 'failed' }>,
  waitMs: number,
): Promise<void> {
  const next = new Date(Date.now() + waitMs).toISOString();
  const last = new Date(waitingSince + input.retryMs).toISOString();
  setCurrentDetails(
    paragraphs(
      `Batch ${batchId} with ${plural(events, 'event')} could not be written (attempt ${attempts + 1}): ${plain(error)}`,
      `The upload will be retried at ${next}, or as soon as the destination is changed. After ${last}, the deliveries will fail, or be sent to the failover destinations of their routes.`,
      signalChoices('`warehouseChanged` retries immediately.'),
    ),
  );
  await condition(() => news.changed, waitMs, { summary: `Before attempt ${attempts + 2} to write ${batchId}` });
}

async function giveUp(run: Run, batchId: string): Promise<void> {
  const { organizationId, destinationId } = run.input;
  const { finishBatch } = activities(`Record ${batchId} as failed`);
  while (!(await finishBatch({ organizationId, destinationId, batchId, outcome: 'failed' })));
}

// All of them are idempotent.
function activities(summary: string): WarehouseActivities {
  return proxyActivities<WarehouseActivities>({
    taskQueue: warehouseTaskQueue(workflowInfo().taskQueue),
    // Longer than a turn, an upload of 16 parts and a record take while every request of them is slow; a live worker
    // sends heartbeats.
    startToCloseTimeout: 1_200_000,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: UNTIL_DONE,
    summary,
  });
}
