// A destination that copes with fewer attempts than there are workers: what eight of them exchange over PostgreSQL keeps it from failing.
import { expect } from 'chai';
import { pino } from 'pino';
import { DestinationPlaces } from '../../core/destination-places.ts';
import { newId } from '../../core/ids.ts';
import { concurrencyLimit } from '../../db/delivery/concurrency.ts';
import { exchangeConcurrency } from '../../worker/concurrency-exchange.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

const WORKERS = 8;
// Beyond this it refuses.
const COPES_WITH = 6;
const ANSWER_MS = 50;
const LOOK_MS = 10;

describe('a destination that copes with fewer attempts than there are workers, in PostgreSQL @turns', () => {
  let database: OwnDatabase;
  const destinationId = newId('dst');
  before(async () => {
    database = await ownDatabase('shared', { connections: WORKERS });
    await database.pool.query(`insert into organizations (id, slug, name, plan) values ('org_1', 'o', 'o', 'free')`);
    await database.pool.query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, headers, auth_type, timeout_ms, retry_policy,
         enabled, version, created_at, updated_at)
       values ($1, 'org_1', 'd', 'd', 'http', 'http://d.example/', 'POST', '{}', 'none', 1000, '{}', true, 1, now(), now())`,
      [destinationId],
    );
    await database.pool.query(
      `insert into relay_leases (owner, expires_at)
       select 'worker-' || i || ':0', now() + interval '1 hour' from generate_series(1, $1::int) as i`,
      [WORKERS],
    );
  });
  after(() => database?.close());

  it('gets what it copes with, and every worker its turn', async () => {
    let underWay = 0;
    let most = 0;
    let answersInARow = 0;
    const served = new Set<string>();
    const workers = Array.from({ length: WORKERS }, (_, index) => {
      const name = `worker-${index + 1}`;
      const places = new DestinationPlaces(500);
      places.setShare({ workers: 1, rank: 0, alive: null });
      const exchange = exchangeConcurrency({ pool: database.pool, log: pino({ level: 'silent' }) }, name, places);
      return { name, places, exchange };
    });

    function send({ name, places }: (typeof workers)[number]): void {
      const answered = places.sending(destinationId);
      underWay += 1;
      most = Math.max(most, underWay);
      const isTooMuch = underWay > COPES_WITH;
      setTimeout(() => {
        underWay -= 1;
        places.leave(destinationId);
        if (isTooMuch) answersInARow = 0;
        else answersInARow += 1;
        // In its turn.
        if (places.usedSince(0).some(({ isShared }) => isShared)) served.add(name);
        answered(isTooMuch ? 'refused' : 'answered');
      }, ANSWER_MS);
    }

    const sending = setInterval(() => {
      for (const worker of workers) {
        while (worker.places.hasRoom(destinationId)) {
          worker.places.enter(destinationId);
          if (worker.places.isOver(destinationId)) {
            worker.places.leave(destinationId);
            break;
          }
          send(worker);
        }
      }
    }, LOOK_MS);
    try {
      await until('a turn of each worker', () => served.size === WORKERS);
      await until('many answers in a row', () => answersInARow >= 150);
      most = 0;
      const limit = await concurrencyLimit(database.pool, destinationId);
      expect(limit).to.be.within(1, WORKERS);
      await until('some more', () => answersInARow >= 200 || answersInARow < 150);
      expect(most, 'what one of them would get that is alone').to.be.at.most(WORKERS);
    } finally {
      clearInterval(sending);
      await until('the last answer', () => underWay === 0);
      await Promise.all(workers.map(({ exchange }) => exchange.stop()));
    }
    const { rowCount } = await database.pool.query('select from destination_turns where held_until > now()');
    expect(rowCount, 'given up at the end').to.equal(0);
  });
});
