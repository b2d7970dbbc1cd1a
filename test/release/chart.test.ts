// The archive of the Helm chart: renders what the folder renders, which Kubernetes takes. test/deploy/ starts what it
// renders as processes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { COLD_START_MS } from '../support/programs/go-program.ts';
import { pack, template, templateOf, validate } from '../support/programs/kubernetes/tools.ts';
import { project, version } from '../../release/npm-packages.ts';

describe('the chart', function () {
  this.timeout(COLD_START_MS);
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-chart-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is packed whole, and Kubernetes takes what it renders', async () => {
    const release = join(project, 'dist', 'release', 'chart');
    await pack(release);
    for (const name of ['minimal', 'everything']) {
      const values = ['--values', join(project, 'test', 'deploy', 'helm', `${name}.yaml`)];
      const texts = await templateOf(join(release, `hookyard-${version}.tgz`), ...values);
      expect(texts).to.deep.equal(await template(...values));
      const manifests = join(folder, name);
      mkdirSync(manifests);
      for (const [index, text] of texts.entries()) writeFileSync(join(manifests, `${index}.yaml`), text);
      expect(await validate(manifests, '1.30')).to.equal('');
    }
  });
});
