// Replays recorded histories against today's workflow code: a change that would break open workflows fails here.
import { DeterminismViolationError } from '@temporalio/workflow';
import { bundleWorkflowCode, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliverySinks } from '../../worker/delivery-sinks.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { quietLogger } from '../support/quiet-temporal.ts';

const folder = join(import.meta.dirname, '..', 'histories');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));

describe('recorded histories', () => {
  it('are there for every path', () => {
    expect(names).to.include.members([
      'alert-given-up',
      'alert-sent',
      'cancelled',
      'circuit',
      'circuit-repeated',
      'closed',
      'delivered-first-attempt',
      'delivered-regular',
      'event-replay-cancelled',
      'event-replay-cancelled-away',
      'event-replay-completed',
      'event-replay-rested',
      'event-replay-waited',
      'express-deferred',
      'express-failed',
      'express-retried',
      'failed-and-closed',
      'failed-over',
      'failed-parked-replayed',
      'held',
      'maintenance',
      'notification-dropped',
      'notified',
      'own-side-away',
      'own-side-cancelled',
      'recorded-later',
      'express-recorded-later',
      'reconcile',
      'resumed',
      'retried',
      'retried-now',
      'waited-for-turn',
      'warehouse-failed',
      'warehouse-given-up',
      'warehouse-turns',
      'warehouse-written',
    ]);
  });

  it('replay with the workflows of today', async () => {
    const errors = await replayAll(await bundleWorkflows(quietLogger));
    expect(Object.fromEntries(errors)).to.deep.equal(Object.fromEntries(names.map((name) => [name, undefined])));
  });

  it('do not replay with workflows that do something else', async () => {
    const changed = await bundleWorkflowCode({
      workflowsPath: join(import.meta.dirname, 'changed', 'index.ts'),
      logger: quietLogger,
    });
    const errors = await replayAll(changed);
    expect(errors.size).to.equal(names.length);
    for (const [name, error] of errors) {
      expect(error, name).to.be.instanceOf(Error);
      expect(error?.name, name).to.equal(DeterminismViolationError.name);
    }
  });
});

/** What replaying each history ended with, by its name; undefined when it went well. */
async function replayAll(workflowBundle: WorkflowBundleOption): Promise<Map<string, Error | undefined>> {
  const histories = names.map((name) => ({
    workflowId: name,
    history: JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as unknown,
  }));
  const options = { workflowBundle, sinks: deliverySinks(() => {}) };
  const errors = new Map<string, Error | undefined>();
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    errors.set(workflowId, error);
  }
  return errors;
}
