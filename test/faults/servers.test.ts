import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { onceMore } from '../support/records.ts';
import { SENDERS, startSenders } from '../support/requests/senders.ts';
import { killPart, startPart, stopPart } from '../support/stack.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// After the server is back, everything acknowledged is delivered, within seconds unless the machine is slow.
const RECOVERY_MS = 180_000;

describe('servers that are away for a while', function () {
  this.timeout(900_000);
  const { testInstance, records, line } = useHookyard({ workers: [{}] });

  const ways: [way: string, end: typeof stopPart][] = [
    ['stopped', stopPart],
    ['killed', killPart],
  ];
  for (const [way, end] of ways) {
    it(`refuses webhooks with 503 while PostgreSQL is ${way}, and continues by itself when it is back`, async () => {
      const gate = Promise.withResolvers<void>();
      const { ledger, endpoint } = await line([{}, { after: gate.promise }, {}]);
      await ledger.post();
      await ledger.settle(RECOVERY_MS);
      await ledger.post();
      await until('an attempt to run', () => endpoint.requests.length === 2);
      try {
        await end('postgres');
        gate.resolve();
        const answers = await Promise.all(Array.from({ length: 10 }, () => ledger.post()));
        for (const answer of answers) {
          expect(answer?.status).to.equal(503);
          expect(Number(answer?.headers['retry-after'])).to.be.above(0);
        }
        const ready = await testInstance.client.request('GET', '/readyz');
        expect(ready.status).to.equal(503);
        expect((await testInstance.client.request('GET', '/healthz')).status).to.equal(200);
      } finally {
        await startPart('postgres');
      }
      await until('ingest to accept again', async () => (await ledger.post())?.status === 200);
      await ledger.settle(RECOVERY_MS);
      expect(ledger.acknowledged.size).to.equal(3);
    });
  }

  it('leave a worker that is not ready and says why, as does one that ends', async () => {
    const [port = 0] = await freePorts(1);
    const worker = await testInstance.onlyWorker({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port) });
    const problems = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      const { problems: found = [] } = (await answer.json()) as { problems?: string[] };
      expect(answer.status).to.equal(found.length === 0 ? 200 : 503);
      return found.join();
    };
    const ready = () => until('the worker to be ready', async () => (await problems()) === '', RECOVERY_MS);
    const says = (text: string) => until(text, async () => (await problems()).includes(text), RECOVERY_MS);
    await ready();
    try {
      await stopPart('postgres');
      await says('the relay ');
    } finally {
      await startPart('postgres');
    }
    await ready();
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line([{ after: gate.promise }]);
    await ledger.post();
    await until('an attempt to run', () => endpoint.requests.length === 1);
    const ended = worker.stop();
    await says('the worker is shutting down').finally(gate.resolve);
    expect(await ended).to.equal(0);
    await testInstance.onlyWorker();
    await ledger.settle(RECOVERY_MS);
  });

  it('loses nothing that it acknowledged when PostgreSQL is killed under load', async () => {
    const { ledger, endpoint } = await line();
    const load = startSenders(ledger);
    try {
      await until('deliveries to be made', () => endpoint.requests.length > SENDERS);
      await killPart('postgres');
      await until('webhooks to be refused', () => load.statuses.has(503));
    } finally {
      await startPart('postgres');
    }
    const before = ledger.acknowledged.size;
    await until('webhooks to be accepted again', () => ledger.acknowledged.size > before + SENDERS);
    await load.stop();
    expect([...load.statuses]).to.have.members([200, 503]);
    await ledger.settle(RECOVERY_MS);
  });

  it('continues from a failed attempt whose recording was committed although the answer of PostgreSQL was lost', async () => {
    const own = new URL(testInstance.databaseUrl);
    const proxy = await startTcpProxy(own.host);
    own.host = proxy.address;
    await testInstance.onlyWorker({ DATABASE_URL: own.href });
    try {
      const gate = Promise.withResolvers<void>();
      const { ledger, endpoint } = await line([{}, { status: 500, after: gate.promise }, {}], {
        destination: { retryPolicy: onceMore(5, 20) },
      });
      // The first one leaves nothing to be read between the answer of the destination and its recording.
      await ledger.post();
      await ledger.settle(RECOVERY_MS);
      const eventId = (await ledger.post())?.body.eventId ?? '';
      await until('the attempt to run', () => endpoint.requests.length === 2);
      const [delivery] = await records.deliveries(eventId);
      proxy.holdAnswers(delivery?.id);
      gate.resolve();
      await until('the attempt to be recorded', async () => (await records.deliveries(eventId))[0]?.attemptCount === 1);
      proxy.breakConnections();
      await ledger.settle(RECOVERY_MS);
      expect(ledger.arrivals(eventId)).to.equal(2);
    } finally {
      proxy.breakConnections();
      await testInstance.onlyWorker();
      await proxy.close();
    }
  });

  for (const [way, end] of ways) {
    it(`accepts webhooks while Temporal is ${way}, and delivers them when it is back`, async () => {
      const { ledger, endpoint } = await line();
      const load = startSenders(ledger);
      try {
        await until('deliveries to be made', () => endpoint.requests.length > SENDERS);
        await end('temporal');
        const before = ledger.acknowledged.size;
        await until('webhooks to be accepted without Temporal', () => ledger.acknowledged.size > before + 5 * SENDERS);
      } finally {
        await startPart('temporal');
        await load.stop();
      }
      expect([...load.statuses]).to.deep.equal([200]);
      await ledger.settle(RECOVERY_MS);
    });
  }
});
