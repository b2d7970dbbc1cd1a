// An organization whose deliveries fail by the dozen asks Temporal for no more than its turns (core/workflow-turns.ts) while
// another one has something to deliver.
import { expect } from 'chai';
import { availableParallelism } from 'node:os';
import { PER_PROCESSOR } from '../../core/workflow-turns.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { addNeighbour, type Neighbour } from '../support/neighbours.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';

const FAILING = 80;
// What an organization gets at once.
const AT_ONCE = 20;

describe('an organization whose deliveries fail', function () {
  this.timeout(180_000);
  let testInstance: OwnHookyard;
  let receiver: Receiver;
  let greedy: Neighbour;
  let other: Neighbour;
  before(async () => {
    [testInstance, receiver] = await Promise.all([
      startHookyard(undefined, { HOOKYARD_LANE: 'express' }),
      startReceiver(),
    ]);
    [greedy, other] = await Promise.all([addNeighbour(testInstance), addNeighbour(testInstance)]);
  });
  after(async () => {
    await receiver?.close();
    await testInstance?.close();
  });

  it('has no more retries than its turns, the other one is served meanwhile, and nothing is lost', async () => {
    let firstAt = Number.POSITIVE_INFINITY;
    const endpoint = receiver.endpoint(({ headers }) => {
      firstAt = Math.min(firstAt, performance.now());
      return { status: headers['x-hookyard-attempt'] === '1' ? 500 : 200 };
    });
    const attempts = (number: string) =>
      endpoint.requests.filter(({ headers }) => headers['x-hookyard-attempt'] === number).length;
    const { source } = await greedy.records.pipe(endpoint.url, {
      destination: { retryPolicy: onceMore(3, 10) },
      route: { circuitFailureThreshold: 10_000 },
    });
    const lively = await other.records.pipe(receiver.endpoint(200).url);
    await testInstance.startWorker();
    await other.records.eventWith('delivered', await other.records.accepted(lively.source, '{}'));

    await Promise.all(Array.from({ length: FAILING }, () => greedy.records.accepted(source, '{}')));
    await until('every first attempt', () => attempts('1') === FAILING);
    await other.records.eventWith('delivered', await other.records.accepted(lively.source, '{}'));
    await until('every retry', () => attempts('2') === FAILING, 120_000);
    // Each has a workflow, whose start is a turn. It waits alone, so half of the turns are its own; a slow machine takes longer.
    const perSecond = (PER_PROCESSOR * availableParallelism()) / 2;
    const seconds = (performance.now() - firstAt) / 1000;
    expect(seconds).to.be.at.least((FAILING - AT_ONCE - 1) / perSecond);
  });
});
