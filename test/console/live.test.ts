import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { consoleWorld, describeConsole, onPage, seen } from '../support/programs/console.ts';
import { until } from '../support/until.ts';

interface Usage {
  limits: { runningStreams: { limit: number; used: number } };
}

describeConsole('the live tail of events', ({ hookyard, records, receiver }) => {
  const streams = async () =>
    (await (await consoleWorld()).hookyard.client.get<Usage>('/api/organization/usage')).limits;
  const untilStreams = (count: number) =>
    until(`${count} streams to be open`, async () => expect((await streams()).runningStreams.used).to.equal(count));
  const untilLive = (page: Page, state: string) =>
    page.locator(`[data-live="${state}"]`).waitFor({ state: 'attached' });
  const untilListed = (page: Page, eventId: string) => page.getByRole('link', { name: eventId }).first().waitFor();

  /** As if another tab were in front of it, or this one again. */
  const see = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
       document.dispatchEvent(new Event('visibilitychange'));`,
    );

  it('shows what arrives, and ends with a pause, with the tab and with the key', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const { id, token } = await hookyard.client.create<{ id: string; token: string }>('/api/api-keys', {
      name: 'live',
    });
    await onPage(
      `/events?live=on&sourceId=${source.id}`,
      { token, expected: /Failed to load resource.* 401/ },
      async (page) => {
        await untilLive(page, 'open');
        await untilStreams(1);
        await untilListed(page, await records.accepted(source, '{"n":1}'));
        await seen(page, '1–1 of 1');
        await page.getByRole('cell', { name: 'delivered' }).waitFor();
        await page.getByRole('button', { name: 'Pause' }).click();
        await untilLive(page, 'off');
        await untilStreams(0);
        const second = await records.accepted(source, '{"n":2}');
        expect(await page.getByRole('link', { name: second }).count()).to.equal(0);
        await page.getByRole('button', { name: 'Follow live' }).click();
        await untilListed(page, second);
        await see(page, 'hidden');
        await untilStreams(0);
        const third = await records.accepted(source, '{"n":3}');
        await see(page, 'visible');
        await untilListed(page, third);
        await untilStreams(1);
        await hookyard.client.delete(`/api/api-keys/${id}`);
        await page.keyboard.press('r');
        await seen(page, 'Your API key is no longer valid');
        await untilStreams(0);
      },
    );
  });

  it('says that the API is away, and continues without leaving anything out', async () => {
    const { port } = await consoleWorld();
    const { source } = await records.pipe(receiver.endpoint(200).url);
    await onPage(`/events?live=on&sourceId=${source.id}`, { expected: /Failed to load resource/ }, async (page) => {
      await untilLive(page, 'open');
      await hookyard.api.stop();
      await untilLive(page, 'away');
      await hookyard.startApi({ HOOKYARD_PORT: String(port) });
      const eventId = await records.accepted(source, '{}');
      await seen(page, /Reconnected at .* UTC/);
      await untilListed(page, eventId);
    });
  });

  it('asks for the list instead where no stream is to be had, and says why', async () => {
    const { token, url } = await consoleWorld();
    const { source } = await records.pipe(receiver.endpoint(200).url);
    const others = new AbortController();
    // That of the test before ends when the API notices that its tab is closed, and would leave a place to this one.
    await untilStreams(0);
    const { limit } = (await streams()).runningStreams;
    const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
    const open = () => fetch(`${url}${hookyard.base}/events/stream`, { headers, signal: others.signal });
    const answers = await Promise.all(Array.from({ length: limit }, open));
    expect(answers.filter(({ ok }) => !ok)).to.deep.equal([]);
    await onPage(
      `/events?live=on&sourceId=${source.id}`,
      { expected: /Failed to load resource.* 429/ },
      async (page) => {
        await seen(page, /concurrent event streams.* The list is refreshed every 5 seconds instead/);
        await untilListed(page, await records.accepted(source, '{}'));
      },
    );
    others.abort();
    await untilStreams(0);
    await onPage(`/events?sourceId=${source.id}&status=delivered`, async (page) => {
      // A proxy that collects answers until they are complete.
      await page.route('**/events/stream*', () => {});
      await page.getByRole('button', { name: 'Follow live' }).click();
      await seen(page, /The live stream cannot filter by status/);
      await page.getByRole('combobox', { name: 'Status' }).press('Backspace');
      await seen(page, /may be buffering the live stream/);
    });
  });
});
