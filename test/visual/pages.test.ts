// npm run visual: every page of the console in both themes at three widths, compared with the pages of an earlier
// commit on the same data. Prints what changed and fails at nothing: somebody looks at the pictures. BASE=<commit>
// compares with that one instead of where this branch left main; PAGES='route|issue' takes only titles that match.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { consoleFolder } from '../../api/console/folder.ts';
import { type ConsoleWorld, consoleWorld, requireChromium } from '../support/programs/console.ts';
import { addressOf, consolePages, oneOfEach } from '../support/programs/console-pages.ts';

const WIDTHS = [1440, 768, 375];
const THEMES = ['light', 'dark'] as const;
const HEIGHT = 900;
const HOUR_MS = 3_600_000;
const project = join(import.meta.dirname, '..', '..');
const pictures = join(tmpdir(), 'hookyard-visual');
const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();

const pages = await consolePages();
const chosen = pages.filter(({ title }) => new RegExp(process.env.PAGES ?? '', 'i').test(title));

/** In the browser: the share of pixels that differ visibly, of what both pictures cover. */
const COMPARE = `async (before, after) => {
  const read = async (picture) => createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob());
  const images = [await read(before), await read(after)];
  const width = Math.max(...images.map((image) => image.width));
  const height = Math.max(...images.map((image) => image.height));
  const [a, b] = images.map((image) => {
    const drawn = new OffscreenCanvas(width, height).getContext('2d');
    drawn.drawImage(image, 0, 0);
    return drawn.getImageData(0, 0, width, height).data;
  });
  let changed = 0;
  for (let at = 0; at < a.length; at += 4) {
    const by = [0, 1, 2, 3].reduce((sum, channel) => sum + Math.abs(a[at + channel] - b[at + channel]), 0);
    if (by > 32) changed += 1;
  }
  return changed / (width * height);
}`;

describe('the pages of the console, beside those of an earlier commit', function () {
  this.timeout(HOUR_MS);
  before(async function () {
    await requireChromium(this);
  });

  it('are drawn, and what changed is printed', async () => {
    const world = await consoleWorld();
    const shop = await world.records.pipe(world.receiver.endpoint(200).url);
    for (let order = 1; order <= 12; order += 1) await world.records.accepted(shop.source, `{"order":{"id":${order}}}`);
    const { ids } = await oneOfEach();
    rmSync(pictures, { recursive: true, force: true });
    mkdirSync(pictures);
    const base = process.env.BASE ?? git('merge-base', 'main', 'HEAD');
    const builds = { before: builtAt(base), after: consoleFolder() };
    // The same for all, so that nothing has grown older in between.
    const now = new Date();
    const judge = await (await world.browser.newContext()).newPage();
    console.log(`      compared with ${git('log', '-1', '--format=%h %s', base)}; pictures: ${pictures}`);
    for (const row of chosen) {
      const address = addressOf(row, ids);
      const before = await drawn(world, builds.before, address, now);
      const after = await drawn(world, builds.after, address, now);
      for (const [name, picture] of after) {
        const file = join(pictures, `${row.path.slice(1).replaceAll(/\W+/g, '-') || 'overview'}-${name}`);
        const texts = [before.get(name), picture].map((one) => `'${one?.toString('base64')}'`);
        const changed = Number(await judge.evaluate(`(${COMPARE})(${texts.join()})`));
        writeFileSync(`${file}.png`, picture);
        if (changed === 0) continue;
        writeFileSync(`${file}.before.png`, before.get(name) ?? '');
        console.log(`      ${row.title}, ${name}: ${(changed * 100).toFixed(2)} %`);
      }
    }
  });
});

/** The console as it was, built once for each commit. */
function builtAt(commit: string): string {
  const folder = `${pictures}-${git('rev-parse', '--short', commit)}`;
  if (existsSync(folder)) return folder;
  const sources = `${folder}.sources`;
  mkdirSync(sources, { recursive: true });
  const files = execFileSync('git', ['archive', commit], { cwd: project, maxBuffer: Infinity });
  execFileSync('tar', ['-x', '-C', sources], { input: files });
  symlinkSync(join(project, 'node_modules'), join(sources, 'node_modules'));
  // The client's types are made of the contract.
  execFileSync(process.execPath, ['sdk/generate/write.ts'], { cwd: sources, stdio: 'inherit' });
  execFileSync(process.execPath, ['api/console/build.ts', folder], { cwd: sources, stdio: 'inherit' });
  rmSync(sources, { recursive: true });
  return folder;
}

/** A page in both themes at all widths, from a build that need not be the one that the API serves. */
async function drawn({ browser, url, token }: ConsoleWorld, folder: string, address: string, now: Date) {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.clock.setFixedTime(now);
  await page.addInitScript(`sessionStorage.setItem('hookyard.key', '${token}')`);
  await page.route(`${url}/console/**`, (route) => {
    const [asset] = /assets\/[^/]+$/.exec(new URL(route.request().url()).pathname) ?? [];
    if (asset !== undefined) return route.fulfill({ path: join(folder, asset) });
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    return route.fulfill({ contentType: 'text/html', body: html.replace('<head>', '<head><base href="/console/">') });
  });
  await page.goto(`${url}/console${address}`);
  await settled(page);
  const shots = new Map<string, Buffer>();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      shots.set(`${width}-${colorScheme}`, await page.screenshot({ fullPage: true, animations: 'disabled' }));
    }
  }
  await context.close();
  return shots;
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
}
