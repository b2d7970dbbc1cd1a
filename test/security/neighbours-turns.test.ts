// An organization whose deliveries fail by the dozen asks Temporal for no more than its turns
// (core/fairness/workflow-permits.ts) while another one has something to deliver.

import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { PERMITS_PER_PROCESSOR } from '../../core/fairness/workflow-permits.ts';
import { freePorts } from '../../local/ports.ts';
import { addNeighbour, type Neighbour } from '../support/attacks/neighbours.ts';
import { onceMore } from '../support/records.ts';
import { scrape } from '../support/telemetry/scrape.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade } from '../support/use-hookyard.ts';

const FAILING = 40;
const HOUR_MS = 3_600_000;
// What an organization gets in a second when it waits alone: half of the slots.
const PER_SECOND = (PERMITS_PER_PROCESSOR * availableParallelism()) / 2;

describe('an organization whose deliveries fail', () => {
  const { testInstance, receiver } = useHookyard({ settings: { HOOKYARD_LANE: 'express' } });
  const greedy = useMade('the greedy one', () => addNeighbour(testInstance));
  const other = useMade('the other', () => addNeighbour(testInstance));

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
    // Each has a workflow, whose start is a turn; a slow machine takes longer.
    const seconds = (performance.now() - firstAt) / 1000;
    expect(seconds).to.be.at.least((FAILING - PER_SECOND - 1) / PER_SECOND);
  });

  it('leaves the relay room for others, although two of them wait for their turns', async () => {
    const total = 99;
    const [port = 0] = await freePorts(1);
    await testInstance.onlyWorkers();
    const floods = await Promise.all([greedy, await addNeighbour(testInstance)].map(flood));
    await testInstance.startWorker({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port), tuning: { maxInFlight: total } });

    const metric = async (name: string) => (await scrape(port)).value(name) ?? Number.NaN;
    await until('them to wait', async () => (await metric('hookyard_workflow_turns_awaited')) >= total / 2);
    // Each has three times what both leave free. The first one has more until some have had their turn.
    await until('a seventh to be free', async () => (await metric('hookyard_relay_in_flight')) <= (total * 6) / 7);
    const queued = await Promise.all(floods.map(({ records }) => records.queued()));
    expect(Math.min(...queued), 'more than each may have in flight').to.be.at.least(total / 2);
  });

  /** One that has more failing deliveries than the relay has slots. */
  async function flood(neighbour: Neighbour): Promise<Neighbour> {
    const source = await neighbour.records.source();
    for (let number = 0; number < 3; number += 1) {
      const { id } = await neighbour.records.destination(receiver.endpoint(500).url, {
        name: `Down ${number}`,
        retryPolicy: onceMore(3, HOUR_MS),
      });
      await neighbour.records.route(source.id, [id], { circuitFailureThreshold: 10_000 });
    }
    await Promise.all(Array.from({ length: 60 }, () => neighbour.records.accepted(source, '{}')));
    return neighbour;
  }
});
