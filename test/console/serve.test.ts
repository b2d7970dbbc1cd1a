import { expect } from 'chai';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { consoleFolder } from '../../api/console/folder.ts';
import { buildConsole } from '../../local/first-steps.ts';
import { consoleWorld, describeConsole } from '../support/programs/console.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const KIB = 1024;
interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

describeConsole('the console as it is served', () => {
  it('has a policy without unsafe-inline, and another nonce each time', async () => {
    const { url } = await consoleWorld();
    const answers = await Promise.all([fetch(`${url}/console`), fetch(`${url}/console/events/x`)]);
    const policies = answers.map(({ headers }) => headers.get('content-security-policy') ?? '');
    for (const policy of policies) expect(policy).to.include("default-src 'none'").and.not.include('unsafe');
    expect(policies[0]).to.not.equal(policies[1]);
    const [page = '', deeper = ''] = await Promise.all(answers.map((answer) => answer.text()));
    const [, nonce = ''] = /'nonce-([^']+)'/.exec(policies[0] ?? '') ?? [];
    expect(page).to.include(`nonce="${nonce}"`).and.include('<base href="console/">');
    expect(deeper).to.include('<base href="../">');
  });

  it('has files that never change, compressed as the browser takes them', async () => {
    const { url } = await consoleWorld();
    const page = await (await fetch(`${url}/console/`)).text();
    const [, file = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(`${url}/console/${file}`, { headers: { 'accept-encoding': encoding } });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('cache-control')).to.include('immutable');
      expect(answer.headers.get('content-encoding') ?? 'identity').to.equal(encoding);
      expect(await answer.text()).to.include('import');
    }
    for (const name of ['..%2findex.html', 'nothing.js', '%2e%2e%2f%2e%2e%2fpackage.json']) {
      expect((await fetch(`${url}/console/assets/${name}`)).status).to.be.oneOf([400, 404]);
    }
  });

  it('loads at most 200 KB at first, 150 for the editor, 30 for charts', () => {
    const assets = join(consoleFolder(), 'assets');
    const manifest = JSON.parse(readFileSync(join(consoleFolder(), '.vite', 'manifest.json'), 'utf8')) as Record<
      string,
      Chunk
    >;
    const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? '';
    const first = filesOf(manifest, entry);
    const size = (files: Iterable<string>) =>
      [...files].reduce((sum, file) => sum + statSync(join(assets, '..', `${file}.br`)).size, 0);
    const beyond = (key: string) => [...filesOf(manifest, key)].filter((file) => !first.has(file));
    // The page that comes first is loaded with it, styles too.
    const whole = filesOf(manifest, 'src/pages/overview/Overview.tsx', new Set(first));
    const sizes = {
      first: size(whole),
      editor: size(beyond('src/editor/edit.ts')),
      charts: size(beyond('src/charts/draw.ts')),
    };
    console.log(`      bytes, compressed: ${JSON.stringify(sizes)}`);
    expect(sizes.first).to.be.at.most(200 * KIB);
    expect(sizes.editor).to.be.at.most(150 * KIB);
    expect(sizes.charts).to.be.at.most(30 * KIB);
    expect(readdirSync(assets).filter((name) => name.endsWith('.map'))).to.deep.equal([]);
  });

  it('works below a path that a proxy adds', async () => {
    const { url, browser } = await consoleWorld();
    const page = await browser.newPage();
    await page.route('http://proxied.test/tools/hookyard/**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const answer = await fetch(url + pathname.replace('/tools/hookyard', '') + search);
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'content-encoding'));
      await route.fulfill({ status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) });
    });
    await page.goto('http://proxied.test/tools/hookyard/console/events/evt_x');
    await page.getByRole('heading', { name: 'Sign in to Hookyard' }).waitFor();
    await page.close();
  });

  it('is not there when it is off, and says what to do when it is not built', async () => {
    // On the database of the stack: they could not read the credentials in that of the other tests.
    const [off, unbuilt] = await Promise.all([
      startService('api', { HOOKYARD_CONSOLE: 'off' }),
      startService('api', { XDG_CACHE_HOME: '/nowhere' }),
    ]);
    try {
      expect((await fetch(`${off.url}/console`)).status).to.equal(404);
      const answer = await fetch(`${unbuilt.url}/console`);
      expect(answer.status).to.equal(503);
      expect(await answer.text()).to.include('npm run console:build');
      // A build that fails says so, and everything else continues.
      expect(await failedBuild()).to.match(
        /could not be built .*nothing else is affected. To try again: npm run console:build/,
      );
      expect((await fetch(`${unbuilt.url}/healthz`)).status).to.equal(200);
      expect((await fetch(`${unbuilt.url}/api/routes`)).status).to.equal(401);
    } finally {
      await Promise.all([off.stop(), unbuilt.stop()]);
    }
  });
});

/** What `npm start` says of a build that cannot write its files. */
async function failedBuild(): Promise<string> {
  const { XDG_CACHE_HOME } = process.env;
  let said = '';
  process.env.XDG_CACHE_HOME = '/dev/null';
  buildConsole(new AbortController().signal, (line) => {
    said += line;
  });
  if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME;
  await until('the build to fail', () => Promise.resolve(said !== ''));
  return said;
}

function filesOf(manifest: Record<string, Chunk>, key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (!chunk || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const file of chunk.css ?? []) found.add(file);
  for (const other of chunk.imports ?? []) filesOf(manifest, other, found);
  return found;
}
