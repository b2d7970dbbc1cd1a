// Organizations never see each other: every operation of the description, asked for with another organization's ids in
// its path, its query and its body. The other's rows stay as they are, and nothing of it is in any answer.
import { expect } from 'chai';
import { makeConsoleCode } from '../../db/organizations/keys.ts';
import { type Answer, createClient } from '../support/api-client.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';
import { makeTenantRecords, type TenantRecords } from '../support/organizations/tenant-records.ts';
import { operations, type TenantRequest } from '../support/organizations/tenant-requests.ts';
import { type TableRow, wholeDatabase } from '../support/organizations/whole-database.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// In everything that the other organization has.
const THEIRS = 'kestrelworks';
// Of a request, not of a record.
const NO_COUNTS = ['ratePerSecond', 'page', 'pageSize', 'step'];

describe('Tenant separation', () => {
  const { testInstance } = useHookyard({});
  let mine: TestOrganization;
  let theirs: TestOrganization;
  let own: TenantRecords;
  let other: TenantRecords;
  let untouched: string[];
  before(async () => {
    // Without a worker, so that no row changes by itself.
    const on = { service: testInstance.api, pool: testInstance.pool };
    [mine, theirs] = await Promise.all([createOrganization(on), createOrganization(on)]);
    own = await makeTenantRecords(mine, 'ownbakery');
    other = await makeTenantRecords(theirs, THEIRS);
    untouched = await theirRows();
  });

  const theirIds = () => Object.values({ ...other, words: [] }).flat();
  const holds = ({ columns }: TableRow, texts: string[]): boolean => {
    const row = JSON.stringify(columns);
    return texts.some((text) => row.includes(text));
  };
  /** Every row, in whatever table, that belongs to the other organization or names a record of it. */
  async function theirRows(): Promise<string[]> {
    const marks = [...theirIds(), THEIRS];
    const rows = (await wholeDatabase(testInstance.pool)).filter((row) => holds(row, marks) && !holds(row, [mine.id]));
    // Rolled up some seconds after it was stored; and noted when it has been answered, by a request of its owner.
    const lasting = rows.filter(({ table }) => table !== 'ledger_entries' && table !== 'rollups');
    const steady = lasting.map(({ table, columns: { last_used_at: _, ...columns } }) => ({ table, columns }));
    return steady.map((row) => JSON.stringify(row)).toSorted();
  }
  /** Rows of the caller that name a record of the other organization. */
  async function crossings(): Promise<TableRow[]> {
    const ids = theirIds().filter((id) => !other.organizationSlug.includes(id));
    return (await wholeDatabase(testInstance.pool)).filter(
      // What a replay was asked for is kept as it was asked; it has found nothing.
      (row) =>
        row.table !== 'event_replays' &&
        holds(row, [mine.id]) &&
        holds(
          row,
          ids.filter((id) => /_/.test(id)),
        ),
    );
  }

  function expectNothingOf(answer: Answer, request: TenantRequest, what: string): void {
    let text = JSON.stringify([answer.body, Object.fromEntries(answer.headers)]);
    // What was sent may come back in a message that says it is unknown.
    for (const sent of request.named) text = text.replaceAll(sent, '');
    expect(text, what).to.not.include(THEIRS);
    for (const id of theirIds()) expect(text, what).to.not.include(id);
  }

  function expectRefused(answer: Answer, request: TenantRequest, what: string): void {
    const found = `${what}: ${answer.status} ${JSON.stringify(answer.body)}`;
    if (request.kind === 'path') {
      expect(answer.status, found).to.equal(404);
      expect(answer.body.code, found).to.equal('RESOURCE_NOT_FOUND');
    } else if (answer.status === 200) {
      for (const [name, count] of numbersOf(answer.body))
        if (!NO_COUNTS.includes(name)) expect(count, found).to.equal(0);
      for (const list of listsOf(answer.body)) expect(list, found).to.be.empty;
    } else {
      // 406: a stream, which is asked for in another way (test/api/event-stream.test.ts).
      expect([400, 403, 404, 406], found).to.include(answer.status);
    }
  }

  for (const operation of operations()) {
    const { method, path } = operation;
    it(`${method} ${path}`, async () => {
      for (const request of operation.requests(own, other)) {
        const what = `${method} ${request.path} (${request.where}: ${request.named.join(', ')})`;
        const answer = await mine.api.request(method, request.path, request.body);
        if (request.kind === 'own') expect(answer.status, what).to.be.oneOf([200, 404, 406, 503]);
        else expectRefused(answer, request, what);
        expectNothingOf(answer, request, what);
      }
      expect(await theirRows()).to.deep.equal(untouched);
    });
  }

  it('has named every kind of record, in path, query and body', () => {
    const requests = operations().flatMap((operation) => operation.requests(own, other));
    const count = (kind: TenantRequest['kind']) => requests.filter((request) => request.kind === kind).length;
    expect(count('path')).to.be.greaterThan(80);
    expect(count('query')).to.be.greaterThan(15);
    expect(count('body')).to.be.greaterThan(30);
    const named = new Set(requests.flatMap((request) => request.named));
    expect([...theirIds(), THEIRS].filter((id) => !named.has(id))).to.deep.equal([]);
  });

  it('would have seen a change of the other organization, and a crossing', async () => {
    await theirs.api.patch(`/api/filters/${other.filter[0]}`, { description: 'changed by its owner' });
    const changed = await theirRows();
    expect(changed).to.not.deep.equal(untouched);
    untouched = changed;
    expect(await crossings()).to.deep.equal([]);
    await testInstance.pool.query('update routes set filter_id = $1 where id = $2', [other.filter[0], own.route[0]]);
    expect((await crossings()).map(({ table }) => table)).to.deep.equal(['routes']);
    await testInstance.pool.query('update routes set filter_id = $1 where id = $2', [own.filter[0], own.route[0]]);
  });

  it('was refused for the ids alone: the same bodies with ids of its own are taken', async () => {
    const controls = operations().flatMap(({ method, controls: make }) =>
      make(own).map((each) => ({ method, ...each })),
    );
    // Deleting comes last.
    const isDeleting = ({ method, path }: { method: string; path: string }) =>
      method === 'DELETE' || path.endsWith('-delete');
    for (const request of [...controls.filter((each) => !isDeleting(each)), ...controls.filter(isDeleting)]) {
      const { method, path, where, body } = request;
      const answer = await mine.api.request(method, path, body);
      const found = `${method} ${path} (${where}): ${answer.status} ${JSON.stringify(answer.body)}`;
      // A route that a control before has made is a duplicate, which is looked for when all ids are known.
      if (answer.status === 409) expect(answer.body.code, found).to.equal('DUPLICATE_ROUTE');
      else expect(answer.status, found).to.be.oneOf([200, 201]);
      const errors = (answer.body.errors ?? []) as string[];
      expect(
        errors.filter((error) => !error.includes('events that match both routes would be delivered twice')),
        found,
      ).to.be.empty;
    }
    expect(await theirRows()).to.deep.equal(untouched);
    expect(await crossings()).to.deep.equal([]);
  });

  it('a sign-in link gives a key of the organization it was made for, no matter who follows it', async () => {
    const code = await makeConsoleCode(testInstance.pool, mine.id, 'a start');
    // With the other's key, which says nothing here.
    const { status, body } = await theirs.api.request('POST', '/api/auth/sign-in', { code });
    expect(status, JSON.stringify(body)).to.equal(200);
    const client = createClient(testInstance.api.url, String(body.token));
    const me = await client.get<{ organization: { id: string } }>('/api/auth/me');
    expect(me.organization.id).to.equal(mine.id);
    const { body: refusal, status: found } = await client.request('GET', `/api/destinations/${other.destination[0]}`);
    expect([found, refusal.code]).to.deep.equal([404, 'RESOURCE_NOT_FOUND']);
    expect(await theirRows()).to.deep.equal(untouched);
    expect(await crossings()).to.deep.equal([]);
  });

  it("names and slugs of the other's records are free for one's own, which do not touch them", async () => {
    const named = (kind: string) => ({ name: `${THEIRS} ${kind}`, slug: `${THEIRS}-${kind}` });
    const url = 'https://own.example/';
    await mine.api.create('/api/destinations', { ...named('destination'), url });
    await mine.api.create(`${mine.base}/sources`, named('source'));
    const destinations = [{ ...named('failover'), type: 'http', url }];
    for (const conflictStrategy of ['skip', 'overwrite', 'rename']) {
      await mine.api.post('/api/destinations/import', { destinations, conflictStrategy });
    }
    expect(await theirRows()).to.deep.equal(untouched);
  });

  it('an Idempotency-Key of the other organization is another key', async () => {
    const options = { headers: { 'Idempotency-Key': 'one-for-both' } };
    const body = { name: 'Once', slug: 'once', conditions: [{ field: 'a', operator: 'exists' }] };
    const [first, second] = [
      await theirs.api.request('POST', '/api/filters', body, options),
      await mine.api.request('POST', '/api/filters', body, options),
    ];
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(first.body.id).to.not.equal(second.body.id);
  });
});

function numbersOf(value: unknown, name = ''): [string, number][] {
  if (typeof value === 'number') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => numbersOf(inner, member));
}

function listsOf(value: unknown): unknown[][] {
  if (Array.isArray(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  // What is wrong with the request is said in lists too.
  return Object.entries(value).flatMap(([name, inner]) =>
    ['errors', 'warnings'].includes(name) ? [] : listsOf(inner),
  );
}
