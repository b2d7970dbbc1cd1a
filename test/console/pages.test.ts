// Every page in both themes and at both widths: axe finds nothing, nothing is wider than the window. With CONSOLE_SCREENSHOTS=1 it
// also makes the pictures of docs/console.md.
import { join } from 'node:path';
import { consoleWorld, expectAccessible, expectUsable, onPage, requireChromium } from '../support/console.ts';
import type { Records } from '../support/records.ts';

const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images', 'console');

describe('the pages of the console @turns', () => {
  const pages: Record<string, () => string> = {
    overview: () => '/',
    events: () => '/events',
    event: () => `/events/${eventId}`,
    deliveries: () => '/deliveries',
    delivery: () => `/deliveries/${deliveryId}`,
    start: () => '/start',
    // Other files look at these with axe.
    ...(process.env.CONSOLE_SCREENSHOTS && {
      sources: () => '/sources',
      source: () => `/sources/${made.source.id}`,
      destination: () => `/destinations/${made.destination.id}`,
      'destination-form': () => `/destinations/${made.destination.id}/edit`,
      route: () => `/routes/${made.route.id}?event=${eventId}`,
      issues: () => '/issues',
      replay: () => '/replays/new',
      usage: () => '/usage',
    }),
  };
  let made: Awaited<ReturnType<Records['deliver']>>;
  let eventId = '';
  let deliveryId = '';
  before(async function () {
    await requireChromium(this);
    const { records, receiver } = await consoleWorld();
    const shop = await records.pipe(receiver.endpoint(200).url);
    for (let order = 1; order <= 12; order += 1) await records.accepted(shop.source, `{"order":{"id":${order}}}`);
    made = await records.deliver(
      receiver.endpoint({ status: 500, body: 'no room' }).url,
      '{"order":{"id":42}}',
      'failed',
    );
    eventId = made.eventId;
    deliveryId = made.delivery.id;
  });

  for (const [name, path] of Object.entries(pages)) {
    it(`${name}: usable by everyone, in both themes, at 375 pixels too`, async () => {
      await onPage(path(), async (page) => {
        await expectUsable(page);
        if (process.env.CONSOLE_SCREENSHOTS) {
          await page.screenshot({ path: join(IMAGES, `${name}.jpg`), type: 'jpeg', quality: 60 });
        }
      });
    });
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
