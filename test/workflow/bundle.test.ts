import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';

describe('workflow bundle', () => {
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
