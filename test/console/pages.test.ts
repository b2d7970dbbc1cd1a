// Every page in both themes and at both widths: axe finds nothing, nothing is wider than the window. With CONSOLE_SCREENSHOTS=1 it
// also makes the pictures of docs/console.md.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  consoleWorld,
  expectAccessible,
  expectUsable,
  JOURNEY_MS,
  onPage,
  requireChromium,
} from '../support/programs/console.ts';
import { addressOf, type ConsolePage, consolePages, type Ids, oneOfEach } from '../support/programs/console-pages.ts';

const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images', 'console');
/** Of all pictures together. */
const MOST_BYTES = 1_000_000;
/** The best at which they are small enough is taken. */
const QUALITIES = [60, 45, 35, 25, 20, 17, 15];
/** Smaller than they are looked at by axe: there are many. */
const PICTURE = { width: 1000, height: 700 };

const pages = await consolePages();
/** `Edit a route`: `edit-a-route` */
const nameOf = ({ title }: ConsolePage): string => title.toLowerCase().replaceAll(' ', '-');

describe('the pages of the console', function () {
  this.timeout(JOURNEY_MS);
  const pictures = new Map<string, Buffer[]>();
  let ids: Ids;
  before(async function () {
    await requireChromium(this);
    const { records, receiver } = await consoleWorld();
    const shop = await records.pipe(receiver.endpoint(200).url);
    for (let order = 1; order <= 12; order += 1) await records.accepted(shop.source, `{"order":{"id":${order}}}`);
    ({ ids } = await oneOfEach());
  });

  for (const row of pages) {
    it(`${row.title}: usable by everyone, in both themes, at 375 pixels too`, async () => {
      await onPage(addressOf(row, pages, ids), async (page) => {
        await expectUsable(page, 'all');
        if (process.env.CONSOLE_SCREENSHOTS) pictures.set(nameOf(row), await picturesOf(page));
      });
    });
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`sign in, ${colorScheme}: usable by everyone`, async () => {
      const work = async (page: Page) => {
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expectAccessible(page);
      };
      await onPage('/', work, { token: null, colorScheme });
    });
  }

  it('have a picture each, all together at most 1 MB', () => {
    if (process.env.CONSOLE_SCREENSHOTS) keep(pictures);
    const files = readdirSync(IMAGES);
    expect(files.toSorted()).to.deep.equal(pages.map((row) => `${nameOf(row)}.jpg`).toSorted());
    expect(sum(files.map((file) => statSync(join(IMAGES, file)).size))).to.be.at.most(MOST_BYTES);
  });
});

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The page in each quality. */
async function picturesOf(page: Page): Promise<Buffer[]> {
  await page.setViewportSize(PICTURE);
  const made: Buffer[] = [];
  for (const quality of QUALITIES) made.push(await page.screenshot({ type: 'jpeg', quality }));
  return made;
}

function keep(pictures: Map<string, Buffer[]>): void {
  const best = QUALITIES.findIndex(
    (_, index) => sum([...pictures.values()].map((made) => made[index]?.length ?? 0)) <= MOST_BYTES,
  );
  rmSync(IMAGES, { recursive: true, force: true });
  mkdirSync(IMAGES);
  for (const [name, made] of pictures) writeFileSync(join(IMAGES, `${name}.jpg`), made[best] ?? '');
  console.log(`    pictures in quality ${QUALITIES[best]}`);
}
