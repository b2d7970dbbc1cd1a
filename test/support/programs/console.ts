// The console in a real browser, on a real Hookyard: one of each for all its tests. A page fails its test by any error
// in its console and any report of its content security policy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { newToken } from '../../../core/config/api-token.ts';
import { freePorts } from '../../../local/ports.ts';
import { browserProgram, hasBrowser } from './browser.ts';
import { type OwnHookyard, startHookyard } from '../hookyard.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { Records } from '../records.ts';
import { createOrganization, type TestOrganization } from '../service.ts';
import { late } from '../use-hookyard.ts';

const project = join(import.meta.dirname, '..', '..', '..');
const HOW_TO_INSTALL = 'chromium is not installed: with it the tests of the console run on this machine too';
const WITHIN_MS = 60_000;
/** Rules of axe for what a theme changes. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
/** The most that a test of many steps may take, on a machine that does much else beside. */
const JOURNEY_MS = 300_000;
/** On a new machine the browser is unpacked, and the console built with what that needs. */
const START_MS = 900_000;

export interface ConsoleWorld {
  hookyard: OwnHookyard;
  records: Records;
  receiver: Receiver;
  browser: Browser;
  /** An API key with `read` and `write`. */
  token: string;
  /** Where the API is; it stays when the API is started again. */
  url: string;
  port: number;
}

type WorldParts = Pick<ConsoleWorld, 'hookyard' | 'records' | 'receiver'>;

let world: Promise<ConsoleWorld> | undefined;
let said = false;

/**
 * For a `before`: starts what all tests of the console share. Leaves them out when there is no browser on this machine,
 * and says so once. @throws Error instead with `REQUIRE_CHROMIUM` (.ci/run)
 */
export async function requireChromium(context: Mocha.Context): Promise<void> {
  if (hasBrowser) {
    context.timeout(START_MS);
    await consoleWorld();
    return;
  }
  if (process.env.REQUIRE_CHROMIUM) throw new Error(HOW_TO_INSTALL);
  if (!said) console.log(`    ${HOW_TO_INSTALL}`);
  said = true;
  context.skip();
}

/** A `describe` of tests in the browser, left out where there is none. */
export function describeConsole(what: string, tests: (parts: WorldParts) => void): void {
  describe(what, function () {
    let made: ConsoleWorld | undefined;
    this.timeout(JOURNEY_MS);
    before(async function () {
      await requireChromium(this);
      made = await consoleWorld();
    });
    tests({
      hookyard: late(() => made?.hookyard),
      records: late(() => made?.records),
      receiver: late(() => made?.receiver),
    });
  });
}

/** What all tests of the console share; it is started at the first call. */
export function consoleWorld(): Promise<ConsoleWorld> {
  world ??= start();
  return world;
}

async function start(): Promise<ConsoleWorld> {
  const token = newToken();
  const [port = 0] = await freePorts(1);
  const settings = { HOOKYARD_API_KEY: token, HOOKYARD_PORT: String(port) };
  const log = (line: string) => console.log(`    ${line}`);
  const [hookyard, receiver, program] = await Promise.all([
    startHookyard(undefined, settings),
    startReceiver(),
    browserProgram(log),
    buildConsole(),
  ]);
  await hookyard.startWorker();
  const browser = await chromium.launch({ ...program, args: ['--no-sandbox', '--disable-gpu'] });
  return { hookyard, records: new Records(hookyard), receiver, browser, token, url: `http://127.0.0.1:${port}`, port };
}

/** Builds the console unless that was done for these sources. */
async function buildConsole(): Promise<void> {
  const child = spawn(process.execPath, [join(project, 'api', 'console', 'build.ts')], {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the console could not be built (${code})`);
}

after('ends the browser', async () => {
  if (!world) return;
  const { browser, receiver, hookyard } = await world;
  await browser.close();
  await Promise.all([receiver.close(), hookyard.close()]);
});

export interface Opened {
  page: Page;
  /** Closes it. @throws when the console of the browser, or its content security policy, has something to say */
  close(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Null: nobody is signed in. */
  token?: string | null;
  /** What of the browser's console is part of the test. */
  expected?: RegExp;
}

/** Opens a page of the console in a window of its own. @param path below `/console` */
async function openConsole(path: string, options: OpenOptions = {}): Promise<Opened> {
  const { browser, url, token: first } = await consoleWorld();
  const { token = first, expected, ...own } = options;
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, locale: 'en-US', ...own });
  context.setDefaultTimeout(WITHIN_MS);
  const problems: string[] = [];
  const note = (text: string) => expected?.test(text) || problems.push(text);
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && note(`${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => note(String(error.stack ?? error)));
  // As text: it runs in the browser.
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));` +
      (token === null
        ? ''
        : `sessionStorage.getItem('hookyard.key') ?? sessionStorage.setItem('hookyard.key', '${token}');`),
  );
  await page.goto(`${url}/console${path}`);
  return {
    page,
    async close() {
      await context.close();
      expect(problems).to.deep.equal([]);
    },
  };
}

type Work = (page: Page) => Promise<void>;

/** Opens a page, does something with it, and closes it. */
export async function onPage(path: string, ...given: [Work] | [OpenOptions, Work]): Promise<void> {
  const [options, work] = given.length === 1 ? [{}, given[0]] : given;
  const opened = await openConsole(path, options);
  try {
    await work(opened.page);
  } catch (error) {
    await opened.close().catch((also: unknown) => console.log(also));
    throw error;
  }
  await opened.close();
}

/** Nothing on the page keeps people from using it, as far as axe can tell. @param rules only these */
export async function expectAccessible(page: Page, rules?: string[]): Promise<void> {
  // No page of the console has frames, so none needs a page of its own to be put together.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found).to.deep.equal([]);
}

/**
 * The same in both themes, and at the width of a phone.
 * @param inDark the rules in the dark theme; by default those for what differs there: colours
 */
export async function expectUsable(page: Page, inDark: string[] | 'all' = COLOURS): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  // While a notification fades, its text has little contrast.
  await page.locator('.mantine-Notification-root').first().waitFor({ state: 'detached' });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, inDark === 'all' ? undefined : inDark);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 375, height: 800 });
  expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).to.be.at.most(375);
  await page.setViewportSize({ width: 1200, height: 900 });
}

/** A key with only these scopes. */
export async function keyWith(...scopes: string[]): Promise<string> {
  const { hookyard } = await consoleWorld();
  const { token } = await hookyard.client.create<{ token: string }>('/api/api-keys', {
    name: scopes.join(' '),
    scopes,
  });
  return token;
}

/** An organization in which there is nothing yet. */
export async function emptyOrganization(): Promise<TestOrganization> {
  const { hookyard, url } = await consoleWorld();
  return createOrganization({ service: { url }, pool: hookyard.pool });
}

/** What the page of a list copies as CSV, and as the API call behind it. */
export async function copied(
  page: Page,
  what: 'Copy rows as CSV' | 'Copy as curl' | 'Copy sign-in instructions',
): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const direct = page.getByRole('button', { name: what });
  if (await direct.count()) await direct.first().click();
  else {
    await page.getByRole('button', { name: 'Export', exact: true }).first().click();
    await page.getByRole('menuitem', { name: what }).click();
  }
  await page
    .getByText(/ copied$/)
    .first()
    .waitFor();
  return String(await page.evaluate('navigator.clipboard.readText()'));
}

/** Opens the dialog of an action in the menu of a record. */
export async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}

/** Waits until a text is to be seen. */
export const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
