// A Temporal worker with the real replay workflow and pages that follow a script, on a real server.
import type { ReplayActivities } from '../../../activities/types.ts';
import type { ReplayProgress } from '../../../core/delivery/event-replay.ts';
import { newId } from '../../../core/text/ids.ts';
import type { ReplayInput } from '../../../workflows/signals-and-queries.ts';
import { replayTaskQueue } from '../../../core/temporal/names.ts';
import type { replay } from '../../../workflows/replay.ts';
import { startWorkers } from './scripted-workers.ts';

/** What the next page makes of the replay; an Error means that our own side is away. */
export type PageStep = Partial<ReplayProgress> | Error | Promise<Partial<ReplayProgress>>;

export type ScriptedReplays = Awaited<ReturnType<typeof startScriptedReplays>>;

interface Script {
  steps: Iterator<PageStep>;
  /** Numbers of the pages that were asked for. */
  pages: number[];
  /** How often the replay was to be cancelled. */
  cancels: number;
  cancelErrors: Error[];
  progress: ReplayProgress;
}

export async function startScriptedReplays(taskQueue: string) {
  const scripts = new Map<string, Script>();
  const { client, stop } = await startWorkers(taskQueue, { [replayTaskQueue(taskQueue)]: scriptedActivities(scripts) });
  return {
    client,
    /** Starts a replay whose pages follow `steps`, and whose cancels fail with `cancelErrors` first. */
    async start(steps: Iterable<PageStep>, changes: Partial<ReplayInput> = {}, cancelErrors: Error[] = []) {
      const input = { organizationId: newId('org'), replayId: newId('rpl'), ratePerSecond: 1000, ...changes };
      const { organizationId, replayId } = input;
      const script: Script = {
        steps: steps[Symbol.iterator](),
        pages: [],
        cancels: 0,
        cancelErrors: [...cancelErrors],
        progress: runningProgress(0, 0),
      };
      scripts.set(replayId, script);
      const handle = await client.workflow.start<typeof replay>('replay', {
        taskQueue,
        workflowId: replayId,
        args: [input],
        staticSummary: 'Replay of 5 events, 1000 per second',
      });
      return { handle, reference: { organizationId, replayId }, pages: script.pages, cancels: () => script.cancels };
    },
    stop,
  };
}

/** A replay that is under way. */
export function runningProgress(pages: number, eventsReplayed: number): ReplayProgress {
  return {
    status: 'running',
    pages,
    eventsTotal: 5,
    eventsReplayed,
    deliveriesCreated: eventsReplayed,
    eventsExpired: 0,
    eventsUnroutable: 0,
    replayedUntil: '2026-11-21T10:00:00.000Z',
  };
}

function scriptedActivities(scripts: Map<string, Script>): ReplayActivities {
  const scriptOf = (replayId: string): Script => {
    const script = scripts.get(replayId);
    if (!script) throw new Error(`No script for ${replayId}`);
    return script;
  };
  return {
    async replayPage({ replayId, page }) {
      const script = scriptOf(replayId);
      script.pages.push(page);
      const step = await script.steps.next().value;
      if (step === undefined) throw new Error('The script has no further page');
      if (step instanceof Error) throw step;
      const { waitsFor: _past, ...before } = script.progress;
      script.progress = { ...before, pages: page, ...step };
      return script.progress;
    },
    async cancelReplay({ replayId }) {
      const script = scriptOf(replayId);
      script.cancels += 1;
      const error = script.cancelErrors.shift();
      if (error) throw error;
      if (script.progress.status === 'running') script.progress = { ...script.progress, status: 'cancelled' };
      return script.progress;
    },
  };
}
