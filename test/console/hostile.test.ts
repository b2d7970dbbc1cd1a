import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeConsole, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const DEEP = 200_000;
const HOSTILE: { what: string; body: string | Buffer; views: string[] }[] = [
  {
    what: 'script tags',
    body: JSON.stringify({ '<img src=x onerror=alert(1)>': '</script><script>alert(1)</script>' }),
    views: ['Tree', 'Raw', 'Hex'],
  },
  { what: '10 MiB', body: `[${'"0123456789abcdef",'.repeat((10 * MIB) / 19 - 2)}0]`, views: ['Tree', 'Raw', 'Hex'] },
  { what: '200,000 levels', body: '['.repeat(DEEP) + ']'.repeat(DEEP), views: ['Tree', 'Raw', 'Hex'] },
  {
    what: 'marks that turn text around, and NUL',
    body: JSON.stringify({ file: 'invoice\u202efdp.exe' }).replace('invoice', 'in\\u0000voice'),
    views: ['Tree', 'Raw', 'Hex'],
  },
  { what: 'no text', body: Buffer.from([0, 255, 254, 0x80, 13, 10]), views: ['Hex'] },
];

describeConsole('the payload viewers', ({ records, receiver }) => {
  for (const { what, body, views } of HOSTILE) {
    it(`show ${what} as text, and stay usable`, async () => {
      const { source } = await records.pipe(receiver.endpoint(200).url);
      const id = await records.accepted(source, body, { 'content-type': 'application/json', 'x-note': '<b>bold</b>' });
      await onPage(`/events/${id}`, async (page) => {
        page.on('dialog', (dialog) => void dialog.dismiss().then(() => expect.fail('a payload ran')));
        for (const view of views) {
          await page.getByRole('radiogroup', { name: 'Payload view' }).getByText(view, { exact: true }).click();
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

const SCRIPT = '<img src=x onerror=alert(1)>';
const TURNED = 'invoice\u202efdp.exe';
const EVIL = `${SCRIPT}${TURNED}`;

describeConsole('text of strangers elsewhere', ({ hookyard, records, receiver }) => {
  /** Nothing of it runs or is drawn, and what turns text around is written as its code. */
  async function isShownAsText(page: Page, path: string, show: () => Promise<unknown>): Promise<void> {
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => expect.fail('a text ran')));
    await page.goto(new URL(`/console${path}`, page.url()).href);
    await page.getByRole('heading', { level: 1, exact: true }).waitFor();
    await show();
    await page.getByText(SCRIPT, { exact: false }).first().waitFor();
    expect(await page.locator('#page img:not(.cm-widgetBuffer), [role="dialog"] img').count()).to.equal(0);
    const text = String(await page.evaluate('document.body.innerText'));
    expect(text.includes('\u202e'), 'a mark that turns text around').to.equal(false);
  }

  it('in answers, in an error, and in the result of a test', async () => {
    const endpoint = receiver.endpoint({ status: 500, body: EVIL, headers: { 'x-evil': SCRIPT } });
    const { delivery, destination } = await records.deliver(endpoint.url, '{}', 'failed');
    await onPage('/settings', async (page) => {
      await isShownAsText(page, `/deliveries/${delivery.id}`, () => seen(page, /x-evil/));
      await isShownAsText(page, `/destinations/${destination.id}`, async () => {
        await page.getByRole('button', { name: 'Send test webhook' }).click();
        await seen(page, 'Test failed');
      });
    });
  });

  it('in what was refused', async () => {
    const source = await records.source({ verificationConfig: { type: 'github', secret: 'x'.repeat(20) } });
    expect((await records.post(source, EVIL, { 'x-evil': SCRIPT })).status).to.equal(401);
    await until('the refusal to be counted', async () => {
      const path = `${hookyard.base}/sources/${source.id}/refusals`;
      return (await hookyard.client.get<{ counts: { total: number } }>(path)).counts.total === 1;
    });
    await onPage('/settings', async (page) => {
      await isShownAsText(page, `/sources/${source.id}?tab=refused-webhooks`, async () => {
        const refused = page.getByRole('region', { name: 'Refused', exact: true });
        await refused.getByRole('cell', { name: 'Signature', exact: true }).click();
        await page.getByRole('dialog').waitFor();
      });
    });
  });

  it('in a sample that is edited, in its result, and in the preview of a request', async () => {
    const transform = await hookyard.client.create<{ id: string }>('/api/transforms', {
      ...{ name: EVIL, type: 'jsonata', code: 'payload' },
    });
    const { source, route } = await records.pipe(receiver.endpoint(200).url, {
      destination: { name: EVIL },
      route: { name: EVIL, transformId: transform.id },
    });
    const body = JSON.stringify({ [SCRIPT]: EVIL });
    const id = await records.accepted(source, body, { 'content-type': 'application/json', 'x-evil': SCRIPT });
    await onPage('/settings', async (page) => {
      await isShownAsText(page, `/transforms/new?event=${id}`, () => seen(page, /Transformed in|Transform failed/));
      await isShownAsText(page, `/routes/${route.id}?tab=preview&event=${id}`, () =>
        page.getByRole('region', { name: 'Request preview' }).getByText('x-evil').first().waitFor(),
      );
      await isShownAsText(page, '/routes', () => page.getByRole('table').first().waitFor());
    });
  });
});
