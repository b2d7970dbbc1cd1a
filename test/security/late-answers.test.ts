// The organization that sends most: its webhooks are answered later while others send and the process is busy, and nobody else's are.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiState } from '../../api/context.ts';
import { lateAnswers } from '../../api/late-answers.ts';
import { freePorts } from '../../local/ports.ts';
import { send } from '../support/http-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { addNeighbour } from '../support/neighbours.ts';
import { scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

// More than an organization may send in a second without being the one that others are spared from.
const MANY = 300;
const AT_ONCE = 20;

describe('Answers to the organization that sends most (LIMIT-21)', () => {
  describe('by what the process has to do', () => {
    let server: Server;
    let url: string;
    let use = 0;
    let machineUse = 0;
    let late: { organizationId: string; ms: number }[] = [];
    let asking = '';
    beforeEach(async () => {
      use = 1;
      machineUse = 0;
      late = [];
      const app = new Koa<ApiState>();
      app.use(
        lateAnswers({
          loopUse: () => use,
          machineUse: () => machineUse,
          late: async (ms) => {
            late.push({ organizationId: asking, ms });
          },
        }),
      );
      app.use((ctx) => {
        asking = String(ctx.query.of);
        ctx.state.source = { organizationId: asking, sourceId: 'source' };
        ctx.status = Number(ctx.query.status ?? 200);
        ctx.body = {};
      });
      server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => server.close());

    const ask = (of: string, status = 200) => send('POST', `${url}/?of=${of}&status=${status}`, {}, '{}');
    async function burst(status = 200) {
      for (let sent = 0; sent < MANY; sent += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => ask('most', status)));
    }
    // One after the other, so that it is known whose answer is late. Of the second after it.
    async function lateAfter(what: () => Promise<unknown>): Promise<Set<string>> {
      await what();
      const windowEnds = (Math.floor(Date.now() / 1000) + 1) * 1000;
      await until('the next second', () => Promise.resolve(Date.now() >= windowEnds));
      late = [];
      await ask('other');
      await ask('most');
      return new Set(late.map(({ organizationId }) => organizationId));
    }
    // A second may end between its webhooks and those of the other, or within them.
    const bothSend = () =>
      until('most to be answered late', async () => {
        const whose = await lateAfter(() => Promise.all([burst(), ask('other'), ask('other')]));
        expect([...whose]).to.not.include('other');
        return whose.has('most');
      });

    it('are late while others send too, and those of others are not', async () => {
      await bothSend();
      expect(late[0]?.ms).to.equal(200);
    });

    it('are late by how busy it is, and not when it has room', async () => {
      use = 0.175;
      await bothSend();
      expect(late[0]?.ms).to.be.closeTo(100, 1);
      use = 0.05;
      expect(await lateAfter(() => Promise.all([burst(), ask('other')]))).to.deep.equal(new Set());
    });

    it('are late by how busy the machine is, if that is more', async () => {
      use = 0.13;
      machineUse = 0.725;
      await bothSend();
      expect(late[0]?.ms).to.be.closeTo(150, 1);
    });

    it('are not late when nobody else sends', async () => {
      expect(await lateAfter(burst)).to.deep.equal(new Set());
    });

    it('do not count what was refused', async () => {
      expect(await lateAfter(() => Promise.all([burst(429), ask('other')]))).to.deep.equal(new Set());
    });
  });

  describe('of webhooks', () => {
    let testInstance: OwnHookyard;
    let port = 0;
    before(async () => {
      [port = 0] = await freePorts(1);
      testInstance = await startHookyard(undefined, { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) });
    });
    after(() => testInstance?.close());

    const lateOnes = async () => (await scrape(port)).value('hookyard_ingest_late_answers_total') ?? 0;

    it('are counted, and every webhook is stored', async () => {
      const [most, other] = [await addNeighbour(testInstance), await addNeighbour(testInstance)];
      const [mostSource, otherSource] = [await most.records.source(), await other.records.source()];
      const post = async (source: { webhookUrl: string }) => {
        const answer = await send('POST', testInstance.api.url + new URL(source.webhookUrl).pathname, {}, '{"a":1}');
        expect(answer.status).to.equal(200);
      };
      let ended = false;
      let sent = 0;
      const flood = Promise.all(
        Array.from({ length: 2 * AT_ONCE }, async () => {
          for (; !ended; sent += 1) await post(mostSource);
        }),
      );
      await until('late answers', async () => {
        await post(otherSource);
        return (await lateOnes()) > 0;
      }).finally(() => {
        ended = true;
      });
      await flood;
      const { rows } = await testInstance.pool.query<{ count: number }>(
        'select count(*)::int as count from events where organization_id = $1',
        [most.organizationId],
      );
      expect(rows[0]?.count).to.equal(sent);
    });
  });
});
