// Two APIs behind a real haproxy that never repeats a request: neither an outage of Temporal nor a rollout loses a
// webhook. `BALANCER_SECONDS=120 npm test -- test/faults/balancer.test.ts` makes the outage that long, rolls out under
// 900 webhooks with the default drain, and prints what was counted.
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Balancer, requireHaproxy, startBalancer } from '../support/servers/haproxy.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { Records } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import { startPart, stopPart } from '../support/stack.ts';
import { until } from '../support/until.ts';

const PER_SECOND = 30;
const LONG_SECONDS = Number(process.env.BALANCER_SECONDS ?? 0);
// Longer than an answer of Temporal is waited for, and than haproxy takes to give up a server.
const OUTAGE_SECONDS = LONG_SECONDS || 10;
const ROLLOUT_WEBHOOKS = 900;
// haproxy needs 1 s to find out.
const DRAIN = LONG_SECONDS > 0 ? '10' : '4';
const DEADLINE_MS = 180_000;

describe('behind a balancer', function () {
  this.timeout(900_000 + LONG_SECONDS * 1000);
  let testInstance: OwnHookyard;
  let apis: Service[];
  let balancer: Balancer;
  let records: Records;
  const settings = { HOOKYARD_DRAIN_SECONDS: DRAIN };
  const portOf = ({ url }: Service) => new URL(url).port;
  before(async function () {
    requireHaproxy(this);
    testInstance = await startHookyard(undefined, settings);
    apis = [testInstance.api, await testInstance.startApi()];
    records = new Records(testInstance);
    balancer = await startBalancer(apis.map((api) => Number(portOf(api))));
  });
  after(async () => {
    await balancer?.close();
    await testInstance?.close();
  });

  it('takes every webhook while Temporal is stopped', async () => {
    const load = await startLoad();
    try {
      await stopPart('temporal');
      const sent = load.sent() + OUTAGE_SECONDS * PER_SECOND;
      await until('webhooks without Temporal', () => load.sent() >= sent, DEADLINE_MS + OUTAGE_SECONDS * 1000);
      expect(await balancer.states()).to.deep.equal(['UP', 'UP']);
    } finally {
      await startPart('temporal');
      await load.stop();
    }
    await load.expectAllStored(`${OUTAGE_SECONDS} s without Temporal`);
  });

  it('takes every webhook while both APIs are restarted in turn', async () => {
    const load = await startLoad();
    for (const [index, api] of apis.entries()) {
      const port = portOf(api);
      expect(await api.stop()).to.equal(0);
      apis[index] = await testInstance.startApi({ HOOKYARD_PORT: port });
      await until('both to be in service', async () => (await balancer.states()).every((state) => state === 'UP'));
    }
    if (LONG_SECONDS > 0) await until('900 webhooks', () => load.sent() >= ROLLOUT_WEBHOOKS, DEADLINE_MS);
    await load.stop();
    await load.expectAllStored(`both APIs restarted in turn, drain ${DRAIN} s`);
  });

  /** Sends to a source of its own, at a fixed rate whatever the answers are, until it is stopped. */
  async function startLoad() {
    const source = await records.source();
    const url = `${balancer.url}${new URL(source.webhookUrl).pathname}`;
    // Half of the senders keep their connection, half open one for each webhook.
    const agents = [new Agent({ keepAlive: true }), new Agent()];
    const outcomes = new Map<string, number>();
    const underWay: Promise<void>[] = [];
    const began = performance.now();
    let sending = true;
    const pace = (async () => {
      while (sending) {
        const outcome = post(url, agents[underWay.length % agents.length]);
        underWay.push(outcome.then((what) => void outcomes.set(what, (outcomes.get(what) ?? 0) + 1)));
        await delay(Math.max(0, began + (underWay.length * 1000) / PER_SECOND - performance.now()));
      }
    })();
    return {
      sent: () => underWay.length,
      async stop() {
        sending = false;
        await pace;
        await Promise.all(underWay);
        for (const agent of agents) agent.destroy();
      },
      async expectAllStored(what: string) {
        const counted = JSON.stringify(Object.fromEntries(outcomes));
        if (LONG_SECONDS > 0) console.log(`    ${what}: ${underWay.length} webhooks, ${counted}`);
        expect(Object.fromEntries(outcomes)).to.deep.equal({ 200: underWay.length });
        expect(await records.storedEvents(source.id)).to.equal(underWay.length);
      },
    };
  }
});

/** Sends a webhook. @returns its status, or why there was none */
function post(url: string, agent: Agent | undefined): Promise<string> {
  return new Promise((resolve) => {
    const request = httpRequest(url, { method: 'POST', agent }, (response) => {
      response.resume().on('end', () => resolve(String(response.statusCode)));
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    request.setTimeout(DEADLINE_MS, () => request.destroy(new Error('no answer')));
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end('{}');
  });
}
