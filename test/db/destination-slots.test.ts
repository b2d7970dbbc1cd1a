import { expect } from 'chai';
import { DestinationSlots } from '../../db/delivery/destination-slots.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const ID = 'dst_1';

describe('slots of destinations', () => {
  const { database } = useDatabase('destination_slots');
  let opened: DestinationSlots[];
  let lost: number;
  beforeEach(() => {
    opened = [];
    lost = 0;
  });
  afterEach(() => Promise.all(opened.map((slots) => slots.close())));

  function open(lostAfterMs?: number): DestinationSlots {
    const onLost = () => {
      lost += 1;
    };
    const slots = new DestinationSlots(database.databaseUrl, onLost, lostAfterMs);
    opened.push(slots);
    return slots;
  }
  const take = (slots: DestinationSlots, maximum: number, destinationId = ID) =>
    slots.exchange([], [{ destinationId, maximum }]);

  it('are never more than the maximum, whoever asks', async () => {
    const taken = await Promise.all([open(), open(), open(), open(), open()].map((slots) => take(slots, 3)));
    expect(taken.filter((ids) => ids.includes(ID))).to.have.length(3);
    expect(await take(open(), 3)).to.deep.equal([]);
    expect(await take(open(), 3, 'dst_2'), 'of another destination').to.deep.equal(['dst_2']);
  });

  it('go with the session of a worker that dies, which is told so if it lives', async () => {
    const [one, other] = [open(), open()];
    await take(one, 1);
    await execute(database.pool)`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database
      where datname = current_database())`;
    await until('it to know', () => lost === 1);
    expect(await take(other, 1)).to.deep.equal([ID]);
    expect(await take(one, 1), 'by a new session').to.deep.equal([]);
  });

  it('are free when a worker that is cut off has said nothing for a while', async () => {
    const [silent, other] = [open(200), open()];
    await take(silent, 1);
    await until('the slot', async () => (await take(other, 1)).length === 1);
    await until('the silent one to know', () => lost === 1);
  });

  it('are all given back after an error', async () => {
    const [one, other] = [open(), open()];
    await take(one, 1);
    const error: unknown = await take(one, Number.NaN, 'dst_2').catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(Error);
    expect(lost).to.equal(1);
    await until('the slot', async () => (await take(other, 1)).length === 1);
  });
});
