// Which events a replay takes, and how many of them at a time.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { makePage } from '../../db/replay/event-replay-pages.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const MIB = 1024 * 1024;

describe('pages of a replay', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

  it('leave out events stored after the request, whatever their ids say', async () => {
    const ids = await db.storeEvents(...many(2));
    const key = await db.startReplay();
    await db.storeEvents({ receivedAgo: 60_000 }, { receivedAgo: 1000 }, { receivedAgo: 0 });
    await db.run(key);
    expect(await db.replayedEvents()).to.deep.equal(ids);
  });

  it('look for their events in steps, and say how far they are', async () => {
    const ids = await db.storeEvents(...many(2500), { status: 'failed' });
    const key = await db.startReplay({ status: 'failed' });
    const steps = [];
    for (let step = 0; step < 3; step += 1) steps.push((await makePage(db.pool, key, 1)).progress);
    expect(steps.map(({ status, pages, eventsReplayed }) => [status, pages, eventsReplayed])).to.deep.equal([
      ['running', 0, 0],
      ['running', 0, 0],
      ['completed', 1, 1],
    ]);
    const times = steps.map(({ replayedUntil }) => String(replayedUntil));
    expect(times).to.deep.equal(times.toSorted());
    expect(await db.replayedEvents()).to.deep.equal([ids.at(-1)]);
  });

  it('take no more than some MiB of payloads, and at least one event', async () => {
    await db.storeEvents(...many(2, { payloadSize: 40 * MIB }), ...many(3, { payloadSize: 15 * MIB }));
    const seen = (await db.run(await db.startReplay({}, 5))).map(({ eventsReplayed }) => eventsReplayed);
    expect(seen).to.deep.equal([1, 2, 4, 5]);
  });

  it('make no more than some hundred deliveries in a page, and all in the end', async () => {
    const others = Array.from({ length: 19 }, () => newId('dst'));
    await execute(db.pool)`
      insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy)
      select other, organization_id, other, other, type, url, method, auth_type, timeout_ms, retry_policy
      from unnest(${others}::text[]) as other, destinations where id = ${db.destinationId}`;
    await execute(db.pool)`update routes set destination_ids = destination_ids || ${others} where id = ${db.routeId}`;
    await db.storeEvents(...many(60));
    const seen = await db.run(await db.startReplay({}, 100));
    expect(seen.map(({ eventsReplayed, deliveriesCreated }) => [eventsReplayed, deliveriesCreated])).to.deep.equal([
      [25, 500],
      [50, 1000],
      [60, 1200],
    ]);
  });
});
