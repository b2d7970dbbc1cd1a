// Schemas that are as much work as an organization can write: compiled and checked beside the event loop.
import { expect } from 'chai';
import { expectError } from '../support/api-client.ts';
import { deliveriesOf, ingest } from '../support/api-records.ts';
import { largeSchema, sourceWithRoutes, useAttacked } from '../support/attacks/budget-attacks.ts';
import { LONGEST_TURN_MS } from '../support/attacks/loop-watch.ts';

describe('Schemas that are too much work', () => {
  const { organization, neighbour } = useAttacked();

  const create = (schema: object) => organization.api.create<{ id: string }>('/api/schemas', { name: 'Large', schema });

  const sourceWith = (schemaIds: string[]) =>
    sourceWithRoutes(
      organization,
      schemaIds.map((schemaId) => ({ schemaId })),
    );

  const payload = (seed: string) => JSON.stringify({ [`${seed}7`]: `${seed}-1` });

  it('are compiled beside the loop when they are stored, and for webhooks', async () => {
    const seeds = ['a', 'b', 'c', 'd'];
    const { result: source, seen } = await neighbour.during(async () => {
      // One after the other: on a slow machine the last of several would not get its turn in time.
      const schemas: { id: string }[] = [];
      for (const seed of seeds) schemas.push(await create(largeSchema(seed)));
      return sourceWith(schemas.map(({ id }) => id));
    });
    expect(seen.longestMs, `the longest turn during ${seen.answers} answers`).to.be.lessThan(LONGEST_TURN_MS);
    const first = await neighbour.during(() => ingest(organization, source, payload('a')));
    expect(first.seen.longestMs).to.be.lessThan(LONGEST_TURN_MS);
    expect((await deliveriesOf(organization, first.result)).map(({ status }) => status)).to.deep.equal(
      seeds.map(() => 'pending'),
    );
    const wrong = await ingest(organization, source, JSON.stringify({ b3: 'wrong' }));
    const { data } = await organization.api.list<{ status: string; error: string | null }>(
      `/api/deliveries?eventId=${wrong}`,
    );
    const refused = data.filter(({ status }) => status === 'schema_failed');
    expect(refused).to.have.length(1);
    expect(refused[0]?.error).to.include('/b3 must match pattern');
  });

  it('that repeat themselves without end do not hold the loop while they are checked', async () => {
    // Each level asks the next one twice.
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        n === 39 ? { type: 'string' } : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const { id } = await create({ $ref: '#/$defs/d0', $defs });
    const source = await sourceWith([id, id, id]);
    const { result: eventId, seen } = await neighbour.during(() => ingest(organization, source, '5'));
    expect(seen.longestMs, `the longest turn during ${seen.answers} answers`).to.be.lessThan(LONGEST_TURN_MS);
    expect((await deliveriesOf(organization, eventId)).map(({ status }) => status)).to.deep.equal(
      Array.from({ length: 3 }, () => 'schema_failed'),
    );
    const tried = await neighbour.during(() =>
      organization.api.request('POST', `/api/schemas/${id}/validate`, { payload: 5 }),
    );
    expect(tried.result.body).to.deep.include({ valid: false });
    expect(tried.seen.longestMs).to.be.lessThan(LONGEST_TURN_MS);
    const unstored = await neighbour.during(() =>
      organization.api.request('POST', '/api/schemas/test', { schema: { $ref: '#/$defs/d0', $defs }, payload: 5 }),
    );
    expect(unstored.result.body).to.deep.include({ valid: false });
    expect(unstored.seen.longestMs).to.be.lessThan(LONGEST_TURN_MS);
  });

  it('are refused beside the loop when they cannot be used', async () => {
    const broken = { ...largeSchema('x'), $ref: '#/nowhere' };
    const { result, seen } = await neighbour.during(() =>
      organization.api.request('POST', '/api/schemas', { name: 'Broken', schema: broken }),
    );
    expectError(result, 400, 'INVALID_SCHEMA', /^schema refers to #\/nowhere/);
    expect(seen.longestMs).to.be.lessThan(LONGEST_TURN_MS);
  });
});
