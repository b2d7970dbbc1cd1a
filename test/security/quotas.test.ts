// Limits of organizations: the one at its limit is refused, by name and with Retry-After, and the other is served.
// Those of webhooks; of everything else: quotas-management.test.ts.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { countOf, expectLimited, quotaRequests, quotaTenant, type Tenant } from '../support/attacks/quotas.ts';
import { until } from '../support/until.ts';
import { openConnection } from './raw-connection.ts';
import { useEach, useHookyard } from '../support/use-hookyard.ts';

describe('Quotas', () => {
  // Without a worker: nothing is delivered.
  const { testInstance } = useHookyard({});
  const limited = useEach(() => quotaTenant(testInstance));
  const other = useEach(() => quotaTenant(testInstance));

  const { limit, webhook, webhooks, used, storedEvents } = quotaRequests(() => ({ testInstance, limited }));

  describe('of webhooks', () => {
    it('eventsPerSecond: a flood of one organization is cut, and all webhooks of the other are taken', async () => {
      await limit({ eventsPerSecond: 5 });
      const startedAt = performance.now();
      const [flood, others] = await Promise.all([webhooks(limited, 100), webhooks(other, 100)]);
      const seconds = (performance.now() - startedAt) / 1000;
      expect(countOf(others, 200)).to.equal(100);
      const accepted = countOf(flood, 200);
      expect(accepted).to.be.within(5, 5 + Math.ceil(5 * seconds));
      for (const answer of flood) if (answer.status !== 200) expectLimited(answer, 'eventsPerSecond');
      expect(await storedEvents(limited), 'what is refused is not stored').to.equal(accepted);
      await until('a webhook to be taken again', async () => (await webhook(limited)).status === 200);
    });

    /** Of a source that asks for signatures from now on. */
    async function verifiedSource() {
      const secret = 'shared with the provider';
      limited.source = await makeSource(limited, { verificationConfig: { type: 'github', secret } });
      const url = `${testInstance.api.url}/ingest/${limited.slug}/${limited.source.slug}`;
      const signed = (body: string) => {
        const signature = createHmac('sha256', secret).update(body).digest('hex');
        return send('POST', url, { 'x-hub-signature-256': `sha256=${signature}` }, body);
      };
      return { url, signed };
    }

    it('eventsPerSecond is not used up by webhooks that are refused', async () => {
      const { signed } = await verifiedSource();
      await limit({ eventsPerSecond: 3 });
      for (const { status } of await webhooks(limited, 40)) expect(status).to.equal(401);
      expect((await signed('{}')).status).to.equal(200);
    });

    it('hold at a source that asks for signatures, and only the signed webhook is told of them', async () => {
      const { url, signed } = await verifiedSource();
      await limit({ payloadBytes: 10, eventsPerMonth: 1 });
      const large = await signed('x'.repeat(11));
      expect(large.status).to.equal(413);
      expect(large.body).to.include({ limit: 'payloadBytes' });
      expect((await signed('{}')).status).to.equal(200);
      expectLimited(await signed('{}'), 'eventsPerMonth');
      expect((await send('POST', url, { 'x-hub-signature-256': 'sha256=00' }, 'x'.repeat(11))).status).to.equal(401);
    });

    it('are refused before their bodies are read', async () => {
      await limit({ eventsPerMonth: 0 });
      await until('the limit to hold', async () => (await webhook(limited)).status === 429);
      const head = `POST /ingest/${limited.slug}/${limited.source.slug} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
      const { socket, answers } = await openConnection(Number(new URL(testInstance.api.url).port));
      socket.write(head);
      const [answer] = await until('the refusal', () => answers().length > 0 && answers());
      socket.destroy();
      expect(answer?.status).to.equal(429);
      expect(answer?.body).to.include({ limit: 'eventsPerMonth' });
    });

    it('eventsPerMonth: as many as may be are taken, to the webhook, and more when it is raised', async () => {
      await limit({ eventsPerMonth: 7 });
      const answers = await webhooks(limited, 20);
      expect(countOf(answers, 200)).to.equal(7);
      for (const answer of answers) if (answer.status !== 200) expectLimited(answer, 'eventsPerMonth');
      expect(countOf(await webhooks(other, 20), 200)).to.equal(20);
      await limit({ eventsPerMonth: 9 });
      await until('the raised limit', async () => (await webhook(limited)).status === 200);
      expect(countOf(await webhooks(limited, 5), 200)).to.equal(1);
      await limit({ eventsPerMonth: null });
      await until('no limit', async () => countOf(await webhooks(limited, 5), 200) === 5);
    });

    it('waitingDeliveries: none may wait when it is 0, and a raised limit counts for sources that were refused', async () => {
      expect((await webhook(limited)).status).to.equal(200);
      await limit({ waitingDeliveries: 0 });
      expectLimited(await webhook(limited), 'waitingDeliveries');
      expect(countOf(await webhooks(other, 5), 200)).to.equal(5);
      await limit({ waitingDeliveries: 100 });
      await until('the raised limit', async () => (await webhook(limited)).status === 200);
    });

    it('storedBytes: a webhook that would not fit is refused, until something is deleted', async () => {
      await limit({ storedBytes: 10_000 });
      const body = JSON.stringify('x'.repeat(3998));
      const answers = [await webhook(limited, body), await webhook(limited, body), await webhook(limited, body)];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
      for (const answer of answers.slice(2)) expectLimited(answer, 'storedBytes');
      expect((await webhook(limited)).status, 'a small one fits').to.equal(200);
      expect((await webhook(other, body)).status).to.equal(200);
      await until('it to be counted', async () => (await used('storedBytes')) === 8002);
      await limited.api.delete(`${limited.base}/events/${String(answers[0]?.body.eventId)}`);
      await until('room for another', async () => (await webhook(limited, body)).status === 200);
    });

    it('payloadBytes: a larger payload is 413, however it is sent', async () => {
      await limit({ payloadBytes: 1000 });
      expect((await webhook(limited, 'x'.repeat(1000))).status).to.equal(200);
      const chunked = { 'transfer-encoding': 'chunked' };
      const url = `${testInstance.api.url}/ingest/${limited.slug}/${limited.source.slug}`;
      for (const answer of [
        await webhook(limited, 'x'.repeat(1001)),
        await send('POST', url, chunked, 'x'.repeat(1001)),
      ]) {
        expect(answer.status).to.equal(413);
        expect(answer.body).to.include({ code: 'PAYLOAD_TOO_LARGE', limit: 'payloadBytes' });
        expect(answer.body.message).to.include('1000 bytes');
      }
      expect((await webhook(other, 'x'.repeat(1001))).status).to.equal(200);
    });

    it('deliveriesPerEvent: a webhook that fans out too far is refused whole', async () => {
      const fanOut = async (to: Tenant) => {
        const ids = await Promise.all([1, 2, 3].map(async () => (await makeDestination(to)).id));
        await makeRoute(to, to.source.id, ids);
      };
      await Promise.all([fanOut(limited), fanOut(other)]);
      await limit({ deliveriesPerEvent: 3 });
      expectLimited(await webhook(limited), 'deliveriesPerEvent');
      expect(await storedEvents(limited)).to.equal(0);
      expect((await webhook(other)).status).to.equal(200);
      await limit({ deliveriesPerEvent: 4 });
      expect((await webhook(limited)).status, 'a raised limit').to.equal(200);
    });

    it('are counted by all processes together', async () => {
      await limit({ eventsPerMonth: 30 });
      const second = await testInstance.startApi();
      const first = limited.api.url;
      const through = (url: string, count: number) =>
        Promise.all(Array.from({ length: count }, () => webhook(limited, '{}', { url })));
      expect(countOf(await through(first, 20), 200)).to.equal(20);
      await until('the other process to know of them', async () => (await used('eventsPerMonth')) === 20);
      expect(countOf(await through(second.url, 20), 200)).to.equal(10);
      await until('the rest to be counted', async () => (await used('eventsPerMonth')) === 30);
      // It learns of them with its next look, about a second later.
      await until('the first process to refuse', async () => countOf(await through(first, 1), 429) === 1);
      expect(await storedEvents(limited)).to.be.within(30, 60);
    });

    it('eventsPerSecond is shared by processes that both receive', async () => {
      await limit({ eventsPerSecond: 2 });
      const urls = [limited.api.url, (await testInstance.startApi()).url];
      // Of its own webhooks alone a process would never ask to wait for more than half a second, which is told as 1.
      await until('each process to take off what the other has accepted', async () => {
        const answers = urls.flatMap((url) => [1, 2, 3].map(() => webhook(limited, '{}', { url })));
        return (await Promise.all(answers)).some(({ headers }) => headers['retry-after'] === '2');
      });
      expect((await webhook(other)).status).to.equal(200);
    });
  });
});
