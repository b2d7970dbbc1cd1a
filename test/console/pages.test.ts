// Every page in both themes and at both widths: axe finds nothing, nothing is wider than the window. With CONSOLE_SCREENSHOTS=1 it
// also makes the pictures of docs/console.md.
import { join } from 'node:path';
import { expect } from 'chai';
import { consoleWorld, expectAccessible, onPage, requireChromium } from '../support/console.ts';

const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images', 'console');

describe('the pages of the console', () => {
  const pages: Record<string, () => string> = {
    overview: () => '/',
    events: () => '/events',
    event: () => `/events/${eventId}`,
    deliveries: () => '/deliveries',
    delivery: () => `/deliveries/${deliveryId}`,
    start: () => '/start',
  };
  let eventId = '';
  let deliveryId = '';
  before(async function () {
    requireChromium(this);
    const { records, receiver } = await consoleWorld();
    const made = await records.deliver(
      receiver.endpoint({ status: 500, body: 'no room' }).url,
      '{"order":{"id":42}}',
      'failed',
    );
    eventId = made.eventId;
    deliveryId = made.delivery.id;
  });

  for (const [name, path] of Object.entries(pages)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`${name}, ${colorScheme}: usable by everyone, at 375 pixels too`, async () => {
        await onPage(
          path(),
          async (page) => {
            await page.getByRole('heading', { level: 1 }).waitFor();
            await page.waitForLoadState('networkidle');
            await expectAccessible(page);
            if (process.env.CONSOLE_SCREENSHOTS && colorScheme === 'light') {
              await page.screenshot({ path: join(IMAGES, `${name}.jpg`), type: 'jpeg', quality: 60 });
            }
            await page.setViewportSize({ width: 375, height: 800 });
            expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).to.be.at.most(375);
          },
          { colorScheme },
        );
      });
    }
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`sign in, ${colorScheme}: usable by everyone`, async () => {
      const work = async (page: Parameters<typeof expectAccessible>[0]) => {
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expectAccessible(page);
      };
      await onPage('/', work, { token: null, colorScheme });
    });
  }
});
