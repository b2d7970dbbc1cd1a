import { expect } from 'chai';
import { request as httpRequest } from 'node:http';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// After a kill, with a worker running, everything acknowledged is delivered: a lost attempt is noticed after 15 s
// (heartbeat) or 10 s (workflow task), a dead relay's lease ends after 6 s. The rest is for slow machines.
const RECOVERY_MS = 180_000;
// What a killed worker leaves of workflows; express.test.ts has the same for the other lane.
const WORKFLOW = { HOOKYARD_LANE: 'workflow' };

describe('killed and ended processes', function () {
  this.timeout(900_000);
  const { testInstance, records, line } = useHookyard({});

  it('makes an attempt again whose worker was killed in the middle of it, regular or local', async () => {
    const worker = await testInstance.onlyWorker(WORKFLOW);
    const held = new Promise<void>(() => undefined);
    const regular = await line([{ after: held }, {}]);
    const quick = await line([{}, { after: held }, {}]);
    await quick.ledger.accepted();
    await quick.ledger.settle(RECOVERY_MS);
    const eventIds = [await regular.ledger.accepted(), await quick.ledger.accepted()];
    await until(
      'both attempts to run',
      () => regular.endpoint.requests.length === 1 && quick.endpoint.requests.length === 2,
    );
    await worker.kill();
    await testInstance.startWorker(WORKFLOW);
    await regular.ledger.settle(RECOVERY_MS);
    await quick.ledger.settle(RECOVERY_MS);
    expect(regular.ledger.arrivals(eventIds[0] ?? '')).to.equal(2);
    expect(quick.ledger.arrivals(eventIds[1] ?? '')).to.equal(2);
    for (const id of eventIds) {
      const [delivery] = await records.deliveries(id);
      expect(await isLocal(delivery?.id ?? ''), 'a local activity').to.equal(id === eventIds[1]);
      expect(delivery, 'the lost attempt costs the destination none').to.include({
        attemptCount: 1,
        status: 'delivered',
      });
    }
  });

  it('delivers what a worker was about to start when it was killed', async () => {
    const proxy = await startTcpProxy(stackAddresses().temporalAddress);
    const worker = await testInstance.onlyWorker({ ...WORKFLOW, TEMPORAL_ADDRESS: proxy.address });
    const { ledger } = await line();
    await ledger.accepted();
    await ledger.settle(RECOVERY_MS);
    proxy.holdRequests();
    const eventId = await ledger.accepted();
    const [delivery] = await records.deliveries(eventId);
    await until('the start to be under way', () => proxy.isHolding(delivery?.id ?? ''));
    await worker.kill();
    await proxy.close();
    expect(ledger.arrivals(eventId)).to.equal(0);
    await testInstance.startWorker(WORKFLOW);
    await ledger.settle(RECOVERY_MS);
    expect(ledger.arrivals(eventId)).to.equal(1);
  });

  it('delivers once what a killed worker had started without learning that it had', async () => {
    const proxy = await startTcpProxy(stackAddresses().temporalAddress);
    const worker = await testInstance.onlyWorker({ ...WORKFLOW, TEMPORAL_ADDRESS: proxy.address });
    const { ledger } = await line();
    await ledger.accepted();
    await ledger.settle(RECOVERY_MS);
    proxy.holdAnswers();
    const eventId = await ledger.accepted();
    const [delivery] = await records.deliveries(eventId);
    await until('the workflow to be started', () =>
      testInstance.temporal.workflow.getHandle(delivery?.id ?? '').describe(),
    );
    await worker.kill();
    await proxy.close();
    await testInstance.startWorker(WORKFLOW);
    await ledger.settle(RECOVERY_MS);
    expect(ledger.arrivals(eventId)).to.equal(1);
  });

  it('delivers what an API acknowledged right before it was killed', async () => {
    await testInstance.onlyWorkers();
    const { ledger } = await line();
    const posts = Array.from({ length: 40 }, () => ledger.post());
    await Promise.race(posts.map(async (post) => (await post)?.status === 200 || new Promise(() => undefined)));
    await testInstance.api.kill();
    await Promise.all(posts);
    expect(ledger.acknowledged.size).to.be.above(0);
    await Promise.all([testInstance.startApi(), testInstance.startWorker()]);
    await ledger.settle(RECOVERY_MS);
  });

  it('gives the work of a killed worker to another one', async () => {
    const workers = await testInstance.onlyWorkers({}, {});
    await until('both to own shards', async () => (await shardsPerWorker()).join() === '32,32');
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line([...Array.from({ length: 20 }, () => ({ after: gate.promise })), {}]);
    await Promise.all(Array.from({ length: 60 }, () => ledger.post()));
    await until('attempts to run', () => endpoint.requests.length >= 20);
    await workers[0].kill();
    gate.resolve();
    await Promise.all(Array.from({ length: 20 }, () => ledger.post()));
    expect(ledger.acknowledged.size).to.equal(80);
    await ledger.settle(RECOVERY_MS);
    await until('all shards to be owned by the other one', async () => (await shardsPerWorker()).join() === '64');
  });

  it('lets a running attempt finish when a worker is told to end', async () => {
    const worker = await testInstance.onlyWorker();
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line([{ after: gate.promise }]);
    const eventId = await ledger.accepted();
    await until('the attempt to run', () => endpoint.requests.length === 1);
    const ended = worker.stop();
    await until('the worker to begin its end', () => worker.output().includes('worker shutting down'));
    gate.resolve();
    expect(await ended).to.equal(0);
    await ledger.settle(RECOVERY_MS);
    expect(ledger.arrivals(eventId)).to.equal(1);
    expect(await shardsPerWorker(), 'shards are given up at once').to.deep.equal([]);
  });

  it('finishes running requests when the API is told to end, and takes no others', async () => {
    await testInstance.onlyWorker();
    const { ledger, source, endpoint } = await line();
    const { api } = testInstance;
    const slow = slowRequest(`${api.url}${new URL(source.webhookUrl).pathname}`);
    await slow.begun;
    const ended = api.stop();
    await until('the API to begin its end', () => api.output().includes('shutting down'));
    await until('new connections to be refused', async () => (await ledger.post()) === null);
    slow.finish();
    expect(await slow.status).to.equal(200);
    expect(await ended).to.equal(0);
    // Beside those that came on a connection that was open.
    await until('the event to arrive', () => endpoint.requests.length === ledger.acknowledged.size + 1);
    await testInstance.startApi();
    await ledger.settle(RECOVERY_MS);
  });

  /** Whether the attempts of a delivery were local activities only. */
  async function isLocal(deliveryId: string): Promise<boolean> {
    const { events } = await testInstance.temporal.workflow.getHandle(deliveryId).fetchHistory();
    return !(events ?? []).some((event) => event.activityTaskScheduledEventAttributes);
  }

  /** How many shards each live worker owns, least first. */
  async function shardsPerWorker(): Promise<number[]> {
    const { rows } = await testInstance.pool.query<{ shards: number }>(
      'select count(*)::int as shards from workers join shards on owner = name group by name order by 1',
    );
    return rows.map(({ shards }) => shards);
  }
});

/** A webhook whose body is sent in two parts. */
function slowRequest(url: string) {
  const request = httpRequest(url, { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, agent: false });
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  const begun = new Promise<void>((resolve) => {
    request.write('{"slow":', () => resolve());
  });
  return { status, begun, finish: () => request.end('true}') };
}
