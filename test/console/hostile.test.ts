// Payloads that would like to be more than text.
import { expect } from 'chai';
import { consoleWorld, onPage, requireChromium, seen } from '../support/console.ts';

const MIB = 1024 * 1024;
const DEEP = 200_000;
const HOSTILE: { what: string; body: string | Buffer; views: string[] }[] = [
  {
    what: 'script tags',
    body: JSON.stringify({ '<img src=x onerror=alert(1)>': '</script><script>alert(1)</script>' }),
    views: ['tree', 'raw', 'hex'],
  },
  { what: '10 MiB', body: `[${'"0123456789abcdef",'.repeat((10 * MIB) / 19 - 2)}0]`, views: ['tree', 'raw', 'hex'] },
  { what: '200,000 levels', body: '['.repeat(DEEP) + ']'.repeat(DEEP), views: ['tree', 'raw', 'hex'] },
  {
    what: 'marks that turn text around, and NUL',
    body: JSON.stringify({ file: 'invoice\u202efdp.exe' }).replace('invoice', 'in\\u0000voice'),
    views: ['tree', 'raw', 'hex'],
  },
  { what: 'no text', body: Buffer.from([0, 255, 254, 0x80, 13, 10]), views: ['hex'] },
];

describe('the payload viewers @turns', () => {
  before(async function () {
    await requireChromium(this);
  });

  for (const { what, body, views } of HOSTILE) {
    it(`show ${what} as text, and stay usable`, async () => {
      const { records, receiver } = await consoleWorld();
      const { source } = await records.pipe(receiver.endpoint(200).url);
      const id = await records.accepted(source, body, { 'content-type': 'application/json', 'x-note': '<b>bold</b>' });
      await onPage(`/events/${id}`, async (page) => {
        page.on('dialog', (dialog) => void dialog.dismiss().then(() => expect.fail('a payload ran')));
        for (const view of views) {
          await page.getByRole('radiogroup', { name: 'Show the payload as' }).getByText(view, { exact: true }).click();
          await page.locator('.lines .line').first().waitFor();
          // Only what is in sight is in the page.
          expect(await page.locator('.lines .line').count()).to.be.below(100);
        }
        expect(await page.locator('.lines img, .lines script, .table b').count()).to.equal(0);
        if (what.startsWith('marks')) await seen(page, /\\u202e|20 2e|e2 80 ae/);
      });
    });
  }
});
