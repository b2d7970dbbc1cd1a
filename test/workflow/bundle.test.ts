// The bundle of the workflow code is made once for each version of it.
import { expect } from 'chai';
import { readFileSync, statSync } from 'node:fs';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { quietLogger } from '../support/quiet-temporal.ts';

describe('workflow bundle', () => {
  it('is made once and holds every workflow', async () => {
    const first = await bundleWorkflows(quietLogger);
    if (!('codePath' in first)) throw new Error('it was made in memory');
    const madeAt = statSync(first.codePath).mtimeMs;
    expect(await bundleWorkflows(quietLogger)).to.deep.equal(first);
    expect(statSync(first.codePath).mtimeMs).to.equal(madeAt);
    const code = readFileSync(first.codePath, 'utf8');
    for (const name of ['circuit', 'delivery', 'maintenance', 'notify', 'replay']) {
      expect(code, name).to.contain(`./workflows/${name}.ts`);
    }
  });
});
