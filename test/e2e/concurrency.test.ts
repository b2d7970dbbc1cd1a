import { expect } from 'chai';
import type { Receiver } from '../support/receiver.ts';
import { onceMore, type Records, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const NEVER_OPENS = { circuitFailureThreshold: 10_000 };
const HOUR_MS = 3_600_000;

const gates = (count: number) => Array.from({ length: count }, () => Promise.withResolvers<void>());

/** Others are delivered meanwhile, so there was time to send more to a destination that got too much. */
async function deliverOthers(records: Records, receiver: Receiver): Promise<void> {
  const { source } = await records.pipe(receiver.endpoint(200).url);
  for (let number = 0; number < 3; number += 1) {
    await records.eventWith('delivered', await records.accepted(source, '{}'));
  }
}

const sendTo = (records: Records, source: SourceView, count: number) =>
  Promise.all(Array.from({ length: count }, () => records.accepted(source, '{}')));

describe('the attempts under way at a destination', () => {
  const { testInstance, records, receiver } = useHookyard();

  it('are no more than its maxConcurrency, which may change while they are under way', async () => {
    const answers = gates(5);
    const endpoint = receiver.endpoint(...answers.map((gate) => ({ after: gate.promise })), 200);
    const { source, destination } = await records.pipe(endpoint.url, {
      destination: { maxConcurrency: 2, timeoutMs: 60_000 },
    });
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
});

describe('the attempts under way at a destination of two workers', () => {
  const { testInstance, records, receiver } = useHookyard({});
  before(() => Promise.all([testInstance.startWorker(), testInstance.startWorker({ HOOKYARD_LANE: 'express' })]));

  it('are no more than its maxConcurrency together', async () => {
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ after: gate.promise });
    try {
      const { source } = await records.pipe(endpoint.url, { destination: { maxConcurrency: 4 } });
      const sent = await sendTo(records, source, 30);
      await until('four attempts', () => endpoint.waiting === 4);
      await deliverOthers(records, receiver);
      expect(endpoint.requests).to.have.length(4);
      gate.resolve();
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
    } finally {
      gate.resolve();
    }
  });
});
