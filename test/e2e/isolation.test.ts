// Destinations that do not answer keep the slots they have taken, and leave the others theirs.
import { expect } from 'chai';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const IN_FLIGHT = 20;
const IN_FLIGHT_PER_DESTINATION = 5;
const HANGING = 5;

describe('destinations that do not answer', () => {
  const { testInstance, records, receiver } = useHookyard({});
  before(async () => {
    await testInstance.startWorker({
      tuning: { maxInFlight: IN_FLIGHT, maxInFlightPerDestination: IN_FLIGHT_PER_DESTINATION },
    });
  });

  it('do not stop others, even when their limits together are more than a worker may have in flight', async () => {
    expect(HANGING * IN_FLIGHT_PER_DESTINATION).to.be.greaterThan(IN_FLIGHT);
    const gate = Promise.withResolvers<void>();
    const hanging = Array.from({ length: HANGING }, () => receiver.endpoint({ after: gate.promise }));
    const source = await records.source();
    const ids: string[] = [];
    for (const { url } of hanging) ids.push((await records.destination(url, { timeoutMs: 60_000 })).id);
    await records.route(source.id, ids);
    const lively = await records.pipe(receiver.endpoint(200).url);
    try {
      const backlog = await Promise.all(
        Array.from({ length: IN_FLIGHT_PER_DESTINATION + 2 }, () => records.accepted(source, '{}')),
      );
      const underWay = () => hanging.reduce((sum, { requests }) => sum + requests.length, 0);
      await until('most slots to be taken', () => underWay() >= IN_FLIGHT / 2);

      for (let number = 0; number < 10; number += 1) {
        await records.eventWith('delivered', await records.accepted(lively.source, '{}'));
      }
      expect(underWay(), 'what hangs has left slots free').to.be.lessThan(IN_FLIGHT);
      for (const eventId of backlog) expect(await records.event(eventId)).to.include({ deliveriesSucceeded: 0 });

      gate.resolve();
      for (const eventId of backlog) {
        expect(await records.eventWith('delivered', eventId)).to.include({ deliveriesSucceeded: HANGING });
      }
    } finally {
      gate.resolve();
    }
  });
});
