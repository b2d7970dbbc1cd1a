import { expect } from 'chai';
import { parseExact } from '../../core/text/exact-json.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const ID = '820982911946154509';

describe('numbers with more digits than a double', () => {
  const { testInstance, records, receiver } = useHookyard();

  it('are idempotency keys of their own, as are values of different types', async () => {
    const source = await records.source({ idempotencyKey: { jsonPath: '$.id', windowSeconds: 300 } });
    const different = [
      ...['9007199254740992', '9007199254740993', '1', '"1"', '1e999', '"null"', '1e1000', 'true', '"true"'],
      ...['[1]', '"[1]"', '[9007199254740993]', '[9007199254740992]', '{"a":1}', '"{\\"a\\":1}"', '"\\"1\\""'],
      ...['"\\ud800"', '"\\ud801"', '"\\ufffd"', '"evt_1"', '0.1', '0.10000000000000001'],
    ];
    const first = new Map<string, string>();
    for (const id of different) first.set(id, await records.accepted(source, `{"id":${id}}`));
    expect(new Set(first.values()).size).to.equal(different.length);
    for (const id of different) {
      const again = await records.post(source, `{ "id": ${id}, "try": 2 }`);
      expect(again.body, id).to.deep.equal({ success: true, eventId: first.get(id), duplicate: true });
    }
    expect(await records.storedEvents(source.id)).to.equal(different.length);
  });

  it('are compared by all digits in conditions, which come back as they were sent', async () => {
    for (const value of [parseExact(ID), ID]) {
      const conditions = [{ field: 'payload.id', operator: 'equals', value }];
      const stored = await testInstance.client.create('/api/filters', { name: 'One order', conditions });
      const shown = await testInstance.client.get(`/api/filters/${stored.id}`);
      const values = (shown.conditions as typeof conditions).map((condition) => condition.value);
      expect(JSON.stringify(values)).to.equal(JSON.stringify([value]));
      // A change of another member leaves them as they are.
      await testInstance.client.patch(`/api/filters/${stored.id}`, { name: 'Another name' });
      for (const route of [{ filterId: stored.id }, { filterConditions: conditions }]) {
        const { source } = await records.pipe(receiver.endpoint(200).url, { route });
        const taken = async (id: string) =>
          (await records.eventWith('delivered', await records.accepted(source, `{"id":${id}}`))).deliveriesCount;
        expect(await taken('820982911946154508')).to.equal(0);
        expect(await taken(ID)).to.equal(1);
      }
    }
    const huge = [{ field: 'payload.id', operator: 'lt', value: parseExact('1e200000') }];
    const refused = await testInstance.client.request('POST', '/api/filters', { name: 'Huge', conditions: huge });
    expect(refused.status).to.equal(400);
    expect(refused.body.message).to.match(/^conditions\.0\.value must be a number with at most/);
  });
});
