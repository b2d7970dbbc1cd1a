// A client that repeats what is refused, without a pause: its refusals come late, and nothing else does.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { lateRefusals } from '../../api/late-refusals.ts';
import type { ApiState } from '../../api/context.ts';
import { sendFrom } from '../support/from-address.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { addNeighbour, expectAccepted } from '../support/neighbours.ts';
import { until } from '../support/until.ts';

const PROMPT = 5;
const LATE_MS = 1000;
// Node's timers may fire so much early.
const TIMER_MS = 2;
const STRANGER = '127.0.0.66';
const OTHER = '127.0.0.67';

describe('Refusals without a pause', () => {
  describe('of one address', () => {
    let server: Server;
    let url: string;
    let gate = Promise.withResolvers<void>();
    beforeEach(async () => {
      gate = Promise.withResolvers();
      const app = new Koa<ApiState>();
      app.use(lateRefusals(PROMPT, () => gate.promise));
      app.use((ctx) => {
        const address = ctx.req.socket.remoteAddress ?? '';
        ctx.state.client = { address, client: address };
        ctx.status = Number(ctx.query.status ?? 429);
        ctx.body = {};
      });
      server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      gate.resolve();
      server.close();
    });

    it('wait beyond some a second, and nothing else waits for them', async () => {
      let answered = 0;
      const ask = () => sendFrom(STRANGER, url, null).then(() => (answered += 1));
      // A second may end meanwhile, and then as many more are answered.
      const asked: Promise<unknown>[] = [];
      const some = await until('some to wait', async () => {
        asked.push(...Array.from({ length: 2 * PROMPT }, ask));
        await sendFrom(OTHER, `${url}/?status=200`, null);
        return answered >= PROMPT && answered < asked.length && answered;
      });
      expect((await sendFrom(OTHER, url, null)).status, 'of another address').to.equal(429);
      expect((await sendFrom(STRANGER, `${url}/?status=200`, null)).status, 'what is not refused').to.equal(200);
      expect((await sendFrom(STRANGER, `${url}/readyz?status=503`, null)).status, 'a probe').to.equal(503);
      expect(answered).to.be.at.least(some).and.to.be.below(asked.length);
      gate.resolve();
      await Promise.all(asked);
    });
  });

  describe('of webhooks', () => {
    let testInstance: OwnHookyard;
    before(async () => {
      testInstance = await startHookyard(undefined, { tuning: { promptRefusalsPerSecond: PROMPT } });
    });
    after(() => testInstance?.close());

    it('are answered as before, but late; those of the same source that are signed are accepted, and those of others', async () => {
      const [attacked, other] = [await addNeighbour(testInstance), await addNeighbour(testInstance)];
      const secret = 'a secret of sixteen bytes';
      const signature = createHmac('sha256', secret).update('{}').digest('hex');
      const verificationConfig = { type: 'github', secret };
      const signed = await attacked.records.source({ verificationConfig });
      const address = testInstance.api.url + new URL(signed.webhookUrl).pathname;
      const refusedAfter = async () => {
        const began = performance.now();
        const { status, body } = await sendFrom(STRANGER, address, null, { method: 'POST', body: '{}' });
        expect({ status, ...body }).to.include({ status: 401, code: 'INVALID_SIGNATURE' });
        return performance.now() - began;
      };
      const flood = until('all of so many at once to be late but some', async () => {
        const times = await Promise.all(Array.from({ length: 4 * PROMPT }, refusedAfter));
        return times.filter((ms) => ms >= LATE_MS - TIMER_MS).length >= PROMPT;
      });
      for (let number = 0; number < PROMPT; number += 1)
        await attacked.records.accepted(signed, '{}', { 'x-hub-signature-256': `sha256=${signature}` });
      await expectAccepted(other, await other.records.source(), PROMPT);
      await flood;
    });
  });
});
