// How many attempts a destination gets at a time: by its maximum, by what it copes with, with retries and over several workers.
import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Hookyard, type OwnHookyard, sharedHookyard, startHookyard } from '../support/hookyard.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type DestinationView, onceMore, Records, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';

// Where the limit of a destination starts (core/destination-places.ts).
const INITIAL = 50;
const NEVER_OPENS = { circuitFailureThreshold: 10_000 };
const HOUR_MS = 3_600_000;

const gates = (count: number) => Array.from({ length: count }, () => Promise.withResolvers<void>());

/** Others are delivered meanwhile, so there was time to send more to a destination that got too much. */
async function deliverOthers(records: Records, receiver: Receiver): Promise<void> {
  const { source } = await records.pipe(receiver.endpoint(200).url);
  for (let number = 0; number < 5; number += 1) {
    await records.eventWith('delivered', await records.accepted(source, '{}'));
  }
}

const sendTo = (records: Records, source: SourceView, count: number) =>
  Promise.all(Array.from({ length: count }, () => records.accepted(source, '{}')));

describe('the attempts under way at a destination @turns @lanes', () => {
  let testInstance: Hookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [testInstance, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    records = new Records(testInstance);
  });
  after(() => Promise.all([testInstance.close(), receiver.close()]));

  const limitOf = async ({ id }: DestinationView) => {
    const health = await testInstance.client.get<{ concurrencyLimit: number | null }>(`/api/destinations/${id}/health`);
    return health.concurrencyLimit;
  };

  it('are no more than its maxConcurrency, which may change while they are under way', async () => {
    const answers = gates(5);
    const endpoint = receiver.endpoint(...answers.map((gate) => ({ after: gate.promise })), 200);
    const { source, destination } = await records.pipe(endpoint.url, { destination: { maxConcurrency: 2 } });
    const sent = await sendTo(records, source, 7);
    try {
      await until('two attempts', () => endpoint.requests.length === 2);
      await deliverOthers(records, receiver);
      expect(endpoint.requests).to.have.length(2);
      answers[0]?.resolve();
      await until('a third one', () => endpoint.requests.length === 3);
      await testInstance.client.patch(`/api/destinations/${destination.id}`, { maxConcurrency: 4 });
      await until('two more', () => endpoint.requests.length === 5);
      await deliverOthers(records, receiver);
      expect(endpoint.requests).to.have.length(5);
      await until('its health to show the new one', async () => (await limitOf(destination)) === 4);
    } finally {
      for (const gate of answers) gate.resolve();
    }
    for (const eventId of sent) await records.deliveryWith('delivered', eventId);
    expect(endpoint.requests).to.have.length(7);
  });

  it('count with the retries, which wait for their turn', async () => {
    const answers = gates(3);
    const endpoint = receiver.endpoint(500, 500, 500, ...answers.map((gate) => ({ after: gate.promise })), 200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(1, HOUR_MS) },
      route: NEVER_OPENS,
    });
    const sent = await sendTo(records, source, 3);
    const waiting = await Promise.all(sent.map((eventId) => records.deliveryWith('retrying', eventId)));
    await testInstance.client.patch(`/api/destinations/${destination.id}`, { maxConcurrency: 1 });
    try {
      await Promise.all(waiting.map(({ id }) => testInstance.client.post(`/api/deliveries/${id}/retry`)));
      await until('a retry', () => endpoint.requests.length === 4);
      await deliverOthers(records, receiver);
      expect(endpoint.requests, 'one at a time').to.have.length(4);
      answers[0]?.resolve();
      await until('the next one', () => endpoint.requests.length === 5);
    } finally {
      for (const gate of answers) gate.resolve();
    }
    for (const eventId of sent) {
      expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 2 });
    }
    expect(endpoint.requests).to.have.length(6);
  });

  it('become fewer when it says that it is overloaded, as its health shows', async () => {
    const endpoint = receiver.endpoint(503);
    const { source, destination } = await records.pipe(endpoint.url, { route: NEVER_OPENS });
    expect(await limitOf(destination), 'before the first').to.equal(null);
    await sendTo(records, source, 20);
    await until('the limit to fall', async () => {
      const limit = await limitOf(destination);
      return limit !== null && limit < INITIAL;
    });
  });

  it('become more while more of them bring more answers', async () => {
    const server = createServer((request, response) => {
      // So long that a slow machine, too, has as many under way as the limit lets it.
      request.resume().on('end', () => setTimeout(() => response.end(), 2000));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      // As workflows, the attempts of one machine are not enough.
      const { source, destination } = await records.pipe(url, { route: { lane: 'express' } });
      const sent = await sendTo(records, source, 300);
      await until('the limit to rise', async () => Number(await limitOf(destination)) > INITIAL);
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('the attempts under way at a destination of two workers', () => {
  let testInstance: OwnHookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [testInstance, receiver] = await Promise.all([startHookyard(), startReceiver()]);
    records = new Records(testInstance);
    await Promise.all([testInstance.startWorker(), testInstance.startWorker({ HOOKYARD_LANE: 'express' })]);
  });
  after(() => Promise.all([testInstance.close(), receiver.close()]));

  it('are no more than its maxConcurrency together', async () => {
    const gate = Promise.withResolvers<void>();
    let isOpen = true;
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      const answered = isOpen ? Promise.resolve() : gate.promise;
      request.resume().on('end', () => void answered.then(() => response.end()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      const { source, destination } = await records.pipe(url, { destination: { maxConcurrency: 4 } });
      const sent: string[] = [];
      await until('both workers to know their share', async () => {
        sent.push(...(await sendTo(records, source, 10)));
        const { rowCount } = await testInstance.pool.query(
          'select from destination_concurrency where destination_id = $1 and places = 2',
          [destination.id],
        );
        return rowCount === 2;
      });
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
      isOpen = false;
      requests = 0;
      sent.push(...(await sendTo(records, source, 30)));
      await until('four attempts', () => requests === 4);
      await deliverOthers(records, receiver);
      expect(requests).to.equal(4);
      isOpen = true;
      gate.resolve();
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
    } finally {
      gate.resolve();
      server.closeAllConnections();
      server.close();
    }
  });
});
