// The bundle of the workflow code is made once for each version of it.
import { expect } from 'chai';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';

describe('workflow bundle', () => {
  it('is made once and holds every workflow', async () => {
    const first = await bundleWorkflows(quietLogger);
    if (!('codePath' in first)) throw new Error('it was made in memory');
    const madeAt = statSync(first.codePath).mtimeMs;
    expect(await bundleWorkflows(quietLogger)).to.deep.equal(first);
    expect(statSync(first.codePath).mtimeMs).to.equal(madeAt);
    const code = readFileSync(first.codePath, 'utf8');
    for (const name of ['circuit', 'delivery', 'maintenance', 'message', 'replay']) {
      expect(code, name).to.contain(`./workflows/${name}.ts`);
    }
  });

  it('loads its modules once for all workflows, and none of them has a state that these would share', async () => {
    const bundle = await bundleWorkflows(quietLogger);
    if (!('codePath' in bundle)) throw new Error('it was made in memory');
    const code = readFileSync(bundle.codePath, 'utf8');
    const [preloaded = ''] = /preloadModules\(\) \{[^}]*\}/.exec(code) ?? [];
    expect(preloaded).to.contain('./workflows/index.ts');
    const modules = new Set(code.match(/(?<=")\.\/(workflows|core)\/[\w/-]+\.ts(?=")/g));
    expect(modules).to.include('./workflows/delivery.ts').and.to.include('./core/delivery/backoff.ts');
    for (const name of modules) {
      const source = readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8');
      expect(source, name).not.to.match(/^(export )?(let|var) |^(export )?const [^\n]*= new (Map|Set|WeakMap)\b/m);
    }
  });
});
