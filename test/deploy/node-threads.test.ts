import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');
const SETTINGS = { UV_THREADPOOL_SIZE: '16', NODE_OPTIONS: '--v8-pool-size=1' };

describe('The threads of Node', () => {
  it('are set where Hookyard is started by npm, and the settings of its user come first', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookyard-threads-'));
    try {
      const script = join(folder, 'threads.js');
      writeFileSync(
        script,
        'const { UV_THREADPOOL_SIZE, NODE_OPTIONS } = process.env; console.log(JSON.stringify({ UV_THREADPOOL_SIZE, NODE_OPTIONS }))',
      );
      const { UV_THREADPOOL_SIZE: _threads, NODE_OPTIONS: _options, ...others } = process.env;
      const seen = (env: Record<string, string>): unknown => {
        const args = [join(project, 'local', 'bootstrap.js'), relative(project, script)];
        return JSON.parse(spawnSync(process.execPath, args, { env: { ...others, ...env }, encoding: 'utf8' }).stdout);
      };
      expect(seen({})).to.deep.equal(SETTINGS);
      // Of an option that is given twice, the last one counts.
      expect(seen({ UV_THREADPOOL_SIZE: '32', NODE_OPTIONS: '--v8-pool-size=3' })).to.deep.equal({
        UV_THREADPOOL_SIZE: '32',
        NODE_OPTIONS: '--v8-pool-size=1 --v8-pool-size=3',
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
