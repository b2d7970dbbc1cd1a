// Filters that are as much work as an organization can write, on webhooks as large as anyone can send: the event loop
// is held by none of them, so others are served meanwhile, and what becomes of the webhook is visible.
import { expect } from 'chai';
import { deliveriesOf, ingest } from '../support/api-records.ts';
import { letters, slowPattern, sourceWithRoutes, useAttacked } from '../support/attacks/budget-attacks.ts';
import { LONGEST_TURN_MS } from '../support/attacks/loop-watch.ts';
import type { DeliveryView } from '../support/records.ts';
import { send } from '../support/requests/http-client.ts';
import { createOrganization } from '../support/service.ts';
import { times } from '../support/requests/times.ts';
import { until } from '../support/until.ts';

const MEBIBYTE = 1024 * 1024;

const matches = (value: string) => ({ field: 'payload.text', operator: 'matches', value });
const slow = (n: number) => matches(slowPattern(500 + n));
const objects = (count: number, kind: string) => times(count, (n) => ({ id: n, kind }));

describe('Filters that are too much work', () => {
  const { service, organization, neighbour } = useAttacked();

  const sourceWith = (routes: object[][]) =>
    sourceWithRoutes(
      organization,
      routes.map((filterConditions) => ({ filterConditions, filterLogic: 'OR' })),
    );

  const attacks: { what: string; routes: object[][]; body: () => string; error?: RegExp; isDone?: true }[] = [
    {
      what: 'regular expressions times routes',
      routes: times(20, (route) => times(10, (n) => slow(10 * route + n))),
      body: () => JSON.stringify({ text: letters(2 * MEBIBYTE) }),
    },
    {
      what: 'fifty conditions on every element of 10 MB',
      routes: [times(50, (n) => ({ field: 'payload[*]', operator: 'equals', value: `x${n}` }))],
      body: () => `[${'0,'.repeat(5 * MEBIBYTE - 10)}0]`,
      error: /matches more than 100000 values/,
    },
    {
      what: 'a list of a thousand objects for every element',
      routes: [[{ field: 'payload[*]', operator: 'in', value: objects(1000, 'x') }]],
      body: () => JSON.stringify(objects(90_000, 'y')),
      isDone: true,
    },
    {
      what: 'a text made for a slow search, which is searched another way',
      routes: [times(5, () => ({ field: 'payload.text', operator: 'contains', value: `b${'a'.repeat(9_000)}` }))],
      body: () => JSON.stringify({ text: 'a'.repeat(9 * MEBIBYTE) }),
      isDone: true,
    },
    {
      what: 'numbers of millions of digits',
      routes: [times(50, (n) => ({ field: 'payload[*]', operator: 'lt', value: n }))],
      body: () => `[${'7'.repeat(9 * MEBIBYTE)}]`,
    },
  ];

  for (const { what, routes, body, error = /^The filter was not applied: /, isDone = false } of attacks) {
    it(`leave others alone: ${what}`, async () => {
      const source = await sourceWith(routes);
      const sent = body();
      const { result: eventId, seen } = await neighbour.during(() => ingest(organization, source, sent));
      expect(seen.longestMs, `the longest turn during ${seen.answers} answers`).to.be.lessThan(LONGEST_TURN_MS);
      const { data } = await organization.api.list<DeliveryView>(`/api/deliveries?eventId=${eventId}&pageSize=100`);
      const failed = data.filter(({ status }) => status === 'filter_failed');
      expect(failed, 'the others are filtered').to.have.length(data.length);
      for (const delivery of failed) expect(delivery.error).to.match(error);
      if (isDone) expect(failed).to.deep.equal([]);
      // The first routes may have been decided in the time that there is.
      else expect(failed.length).to.be.within(Math.ceil(routes.length / 2), routes.length);
      const event = await organization.api.get(`${organization.base}/events/${eventId}`);
      const counts = { deliveriesCount: failed.length, deliveriesFailed: failed.length };
      expect(event).to.include({ status: isDone ? 'delivered' : 'failed', ...counts });
      const listed = await organization.api.list<DeliveryView>(
        `/api/deliveries?status=filter_failed&eventId=${eventId}`,
      );
      expect(listed.pagination.total).to.equal(failed.length);
      expect(service.running).to.equal(true);
    });
  }

  it('are too much only for webhooks that are too large; a replay asks no filter', async () => {
    const source = await sourceWith([[slow(0)]]);
    const sent = (text: string) => ingest(organization, source, JSON.stringify({ text }));
    const statusesOf = async (eventId: string) =>
      (await deliveriesOf(organization, eventId)).map(({ status }) => status);
    expect(await statusesOf(await sent(`${'a'.repeat(501)}cd`))).to.deep.equal(['pending']);
    expect(await statusesOf(await sent('a1'))).to.deep.equal([]);
    const eventId = await sent(letters(2 * MEBIBYTE));
    const [failed] = await deliveriesOf(organization, eventId);
    expect(failed?.status).to.equal('filter_failed');
    await organization.api.request('POST', `/api/deliveries/${failed?.id}/replay`);
    expect(await statusesOf(eventId)).to.deep.equal(['filter_failed', 'pending']);
  });

  it('leave a thread to the large webhooks of another organization', async () => {
    const attacked = await sourceWith([times(10, slow)]);
    const other = await createOrganization({ service });
    const filterConditions = [{ field: 'payload.kind', operator: 'equals', value: 'paid' }];
    const source = await sourceWithRoutes(other, [{ filterConditions }]);
    // Too large to be parsed on the event loop.
    const large = JSON.stringify({ kind: 'paid', text: 'x'.repeat(3 * MEBIBYTE) });
    const heavy = JSON.stringify({ text: letters(MEBIBYTE) });
    const headers = { 'content-type': 'application/json' };
    let answered = 0;
    const url = `${service.url}/ingest/${organization.slug}/${attacked.slug}`;
    const attack = Promise.all(
      times(12, async () => {
        const { status } = await send('POST', url, headers, heavy);
        // What did not get its turn in time took no thread.
        if (status === 200) answered += 1;
        return status;
      }),
    );
    await until('the first of them to be decided', () => answered > 0);
    const eventId = await ingest(other, source, large);
    expect(answered, 'of 12 heavy ones').to.be.lessThan(8);
    expect((await deliveriesOf(other, eventId)).map(({ status }) => status)).to.deep.equal(['pending']);
    for (const status of await attack) expect(status).to.be.oneOf([200, 503]);
  });
});
