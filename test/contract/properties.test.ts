// Properties of what the contract says of lists of configuration, over generated records and queries.
import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../support/api-client.ts';
import { makeRoute } from '../support/api-records.ts';
import type { TestOrganization } from '../support/service.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const SEED = 20_261_121;
const RECORDS = 24;

type Item = Json & { id: string };

/** A list, what is in it (newest first), and which filters it takes, each with the same question asked of a record. */
interface List {
  path: string;
  records: Item[];
  filters: Record<string, { values: fc.Arbitrary<string>; takes: (record: Item, value: string) => boolean }>;
}

const contains = (text: unknown, part: string) => String(text).toLowerCase().includes(part.toLowerCase());
// Wildcards of LIKE among them: they are taken literally.
const letters = fc.constantFrom('a', 'b', 'A', '%', '_', '\\', ' ', '-', '1');
const word = fc.string({ unit: letters, minLength: 1, maxLength: 4 }).filter((text) => text.trim() !== '');
const enabled = {
  values: fc.constantFrom('true', 'false'),
  takes: (record: Item, value: string) => String(record.enabled) === value,
};
const search = (...members: string[]) => ({
  values: word,
  takes: (record: Item, value: string) => members.some((member) => contains(record[member], value)),
});
const oneOf = (member: string, values: string[]) => ({
  values: fc.constantFrom(...values, 'unknown'),
  takes: (record: Item, value: string) => record[member] === value,
});
const sampled = <T>(arbitrary: fc.Arbitrary<T>, count = RECORDS): T[] =>
  fc.sample(arbitrary, { seed: SEED, numRuns: count });

describe('Lists', () => {
  const lists: Record<string, List> = {};
  let organization: TestOrganization;
  const { testInstance } = useHookyard({});

  before(async () => {
    // Without a worker nothing changes by itself.
    organization = {
      id: testInstance.organizationId,
      slug: 'default',
      token: '',
      api: testInstance.client,
      base: testInstance.base,
    };
    const { api, base } = organization;
    // A path is listed in full once; what is asked of it afterwards is compared with that.
    const add = async (path: string, filters: List['filters']) => {
      const { data, pagination } = await api.list<Item>(`${path}?pageSize=100`);
      expect(pagination.total, path).to.equal(data.length);
      lists[path] = { path, records: data, filters };
    };
    const made = { sources: [] as Item[], destinations: [] as Item[] };
    for (const [index, [name, isEnabled]] of sampled(fc.tuple(word, fc.boolean())).entries()) {
      const body = { name, enabled: isEnabled };
      made.destinations.push(
        await api.create('/api/destinations', { ...body, url: `https://d${index}.example/a_b%25` }),
      );
      made.sources.push(await api.create(`${base}/sources`, { ...body, slug: `source-${index}` }));
      await api.create('/api/filters', { name, conditions: [{ field: 'method', operator: 'exists' }] });
      await api.create('/api/schemas', { name, schema: true });
      if (index < 6) await api.create('/api/transforms', { name, type: 'jsonata', code: '$' });
      await api.create('/api/api-keys', { name });
    }
    const pick = (items: Item[], index: number) => items[index % items.length]?.id ?? '';
    for (const [index, isEnabled] of sampled(fc.boolean()).entries()) {
      const ids = [...new Set([pick(made.destinations, index), pick(made.destinations, index * 7 + 1)])];
      await makeRoute(organization, pick(made.sources, index % 5), ids, { enabled: isEnabled });
    }
    await add('/api/destinations', { enabled, search: search('name', 'url') });
    const newestFirst = made.destinations.map(({ id }) => id).toReversed();
    expect(lists['/api/destinations']?.records.map(({ id }) => id)).to.deep.equal(newestFirst);
    const { pagination } = await api.list('/api/destinations');
    expect(pagination).to.deep.equal({ total: RECORDS, page: 1, pageSize: 20 });
    await add(`${base}/destinations`, { enabled, search: search('name', 'url') });
    await add(`${base}/sources`, { enabled, search: search('name', 'slug') });
    await add('/api/routes', {
      enabled,
      sourceId: oneOf(
        'sourceId',
        made.sources.slice(0, 6).map(({ id }) => id),
      ),
      destinationId: {
        values: fc.constantFrom(...made.destinations.map(({ id }) => id)),
        takes: (record, value) => (record.destinationIds as string[]).includes(value),
      },
    });
    for (const kind of ['filters', 'schemas', 'transforms'])
      await add(`/api/${kind}`, { search: search('name', 'slug') });
    await add('/api/api-keys', {});
  });

  const PATHS = [
    ...['/api/destinations', '/api/routes', '/api/filters', '/api/schemas', '/api/transforms', '/api/api-keys'],
    ...['{base}/destinations', '{base}/sources'],
  ];
  for (const name of PATHS) {
    it(`${name}: any page of any filter is that cut of what the filter takes, with its total`, async () => {
      const list = lists[name.replace('{base}', organization.base)];
      if (!list) throw new Error(`${name} was not prepared`);
      expect(list.records).to.not.be.empty;
      const query = fc.record(
        Object.fromEntries(Object.entries(list.filters).map(([filter, { values }]) => [filter, values])),
        { requiredKeys: [] },
      );
      const page = fc.record({ page: fc.integer({ min: 1, max: 6 }), pageSize: fc.integer({ min: 1, max: 120 }) });
      await fc.assert(
        fc.asyncProperty(query, page, async (filters, cut) => {
          const wanted = list.records.filter((record) =>
            Object.entries(filters).every(([filter, value]) => list.filters[filter]?.takes(record, String(value))),
          );
          await expectPage(list, filters as Record<string, string>, cut, wanted);
        }),
        { seed: SEED, numRuns: 40 },
      );
    });
  }

  async function expectPage(
    { path }: List,
    filters: Record<string, string>,
    { page, pageSize }: { page: number; pageSize: number },
    wanted: Item[],
  ): Promise<void> {
    const query = new URLSearchParams({ ...filters, page: String(page), pageSize: String(pageSize) });
    const { data, pagination } = await organization.api.list<Item>(`${path}?${query}`);
    const size = Math.min(pageSize, 100);
    expect(pagination).to.deep.equal({ total: wanted.length, page, pageSize: size });
    expect(data.map(({ id }) => id)).to.deep.equal(wanted.slice((page - 1) * size, page * size).map(({ id }) => id));
  }
});
