// The site of two releases, from a clone that has their tags, and what fails its build.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { project } from '../../release/npm-packages.ts';

const ROOT = 'https://docs.example.com/hookyard/';

describe('the site', function () {
  this.timeout(900_000);
  const clone = mkdtempSync(join(tmpdir(), 'hookyard-site-test-'));
  after(() => rmSync(clone, { recursive: true }));
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: clone, encoding: 'utf8' });
  const built = (file: string) => readFileSync(join(clone, 'dist', 'site', file), 'utf8');
  const release = (version: string) => {
    run(process.execPath, 'release/version.ts', version);
    run('git', '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-am', version);
    run('git', 'tag', version);
  };

  before(() => {
    run('git', 'clone', '--quiet', '--local', '--no-tags', project, '.');
    symlinkSync(join(project, 'node_modules'), join(clone, 'node_modules'));
    for (const version of ['9.0.0', '9.0.1', '9.1.0']) release(version);
    execFileSync(process.execPath, ['site/versions.ts'], { cwd: clone, env: { ...process.env, SITE_URL: ROOT } });
  });

  it('has the newest release at its root and the last of each earlier minor version in a folder, in every menu', () => {
    for (const [folder, version] of Object.entries({ '': '9.1.0', 'v9.0/': '9.0.1' })) {
      const page = built(`${folder}guide/concepts.html`);
      const menu = [...page.matchAll(/VPMenuLink"[^>]*><a [^>]*href="([^"]+)"[^>]*><!--\[--><span[^>]*>([^<]+)</g)];
      expect(menu.map(([, link, text]) => `${text} ${link}`)).to.include.members([
        `9.1.0 ${ROOT}`,
        `9.0.1 ${ROOT}v9.0/`,
      ]);
      expect(page).to.match(new RegExp(`<span[^>]*>${version}</span><span class="vpi-chevron-down`));
      expect(page).to.include(`href="/hookyard/${folder}guide/tutorial"`);
      expect(page.includes('content="noindex"')).to.equal(folder !== '');
    }
  });

  it('has the reference of the API, search, light and dark, and llms.txt, in each version', () => {
    for (const folder of ['', 'v9.0/']) {
      expect(built(`${folder}api/sources.html`))
        .to.include('/api/sources')
        .and.include('VPSwitchAppearance');
      expect(globSync(`dist/site/${folder}assets/chunks/*localSearchIndex*.js`, { cwd: clone })).to.have.lengthOf(1);
      const [, page = ''] = /\[Concepts\]\(\/hookyard\/(\S+)\)/.exec(built(`${folder}llms.txt`)) ?? [];
      expect(page).to.equal(`${folder}guide/concepts.md`);
      expect(built(page)).to.include('# Concepts');
    }
  });

  it('fails with a dead link', () => {
    appendFileSync(join(clone, 'docs', 'guide', 'concepts.md'), '\n[nowhere](sources.md#nowhere)\n');
    const { status, stderr } = spawnSync(process.execPath, ['site/build.ts'], { cwd: clone, encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.include('guide/concepts.html: ').and.include('#nowhere');
  });
});
