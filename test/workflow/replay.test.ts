// Replays recorded histories against today's workflow code: a change that would break open workflows fails here.
import { DeterminismViolationError } from '@temporalio/workflow';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';
import { replayHistories } from '../support/workflows/replay-histories.ts';

const folder = join(import.meta.dirname, '..', 'histories');
const histories = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({ name: file.slice(0, -'.json'.length), text: readFileSync(join(folder, file), 'utf8') }));
const names = histories.map(({ name }) => name);

describe('recorded histories', () => {
  it('replay with the workflows of today', async () => {
    const errors = await replayHistories(await bundleWorkflows(quietLogger), histories);
    expect(Object.fromEntries(errors)).to.deep.equal(Object.fromEntries(names.map((name) => [name, undefined])));
  });

  it('do not replay with workflows that do something else', async () => {
    const changed = await bundleWorkflowCode({
      workflowsPath: join(import.meta.dirname, 'changed', 'index.ts'),
      logger: quietLogger,
    });
    const errors = await replayHistories(changed, histories);
    expect(errors.size).to.equal(names.length);
    for (const [name, error] of errors) {
      expect(error, name).to.be.instanceOf(Error);
      expect(error?.name, name).to.equal(DeterminismViolationError.name);
    }
  });
});
