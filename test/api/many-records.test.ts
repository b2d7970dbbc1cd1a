// Organizations with very many records: what reads of them load.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { makeRoute, makeSource } from '../support/api-records.ts';
import { testPool } from '../support/service.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const SLUGS = 1000;

describe('An organization with thousands of records', () => {
  const organization = useOrganization();
  /** Of the destinations, oldest first. */
  let ids: string[];
  before(async () => {
    ids = await destinations();
  });

  /** Makes some with the slugs `crm`, `crm-2`, `crm-3`... */
  async function destinations(): Promise<string[]> {
    const began = Date.now();
    const made = Array.from({ length: SLUGS }, (_, n) => newId('dst', began + n));
    await testPool().query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy)
       select id, $2, 'CRM', 'crm' || case when n > 1 then '-' || n else '' end, 'http', 'https://receiver.example/', 'POST', 'none', 30000,
              '{"maxRetries": 0, "initialDelay": 0, "maxDelay": 0, "backoffMultiplier": 1}'
       from unnest($1::text[]) with ordinality as made(id, n)`,
      [made, organization.id],
    );
    return made;
  }

  it('exports all of them, oldest first', async () => {
    const { body } = await organization.api.request('GET', '/api/destinations/export');
    expect(
      (body as unknown as { destinations: { slug: string }[] }).destinations.map(({ slug }) => slug),
    ).to.deep.equal(Array.from({ length: SLUGS }, (_, n) => (n === 0 ? 'crm' : `crm-${n + 1}`)));
  });

  it('counts the routes of a filter, and finds routes by circuit, although all use it and all circuits are open', async () => {
    const source = await makeSource(organization);
    const filter = await organization.api.create<{ id: string }>('/api/filters', {
      name: 'Paid',
      conditions: [{ field: 'kind', operator: 'equals', value: 'paid' }],
    });
    await makeRoute(organization, source.id, ids.slice(0, 1), { filterId: filter.id });
    const routeIds = ids.slice(1).map(() => newId('rte'));
    await testPool().query(
      `insert into routes (id, organization_id, name, source_id, destination_ids, filter_id)
       select id, $2, id, $3, array[destination], $4 from unnest($1::text[], $5::text[]) as made(id, destination)`,
      [routeIds, organization.id, source.id, filter.id, ids.slice(1)],
    );
    await testPool().query(
      `insert into circuits (route_id, organization_id, state, opened_at, version) select id, $2, 'open', now(), 1 from unnest($1::text[]) as id`,
      [routeIds, organization.id],
    );
    expect((await organization.api.get(`/api/filters/${filter.id}`)).routeCount).to.equal(ids.length);
    const inState = async (state: string) =>
      (await organization.api.list(`/api/routes?circuitState=${state}`)).pagination.total;
    expect(await inState('open')).to.equal(routeIds.length);
    expect(await inState('closed')).to.equal(1);
    expect(await inState('half_open')).to.equal(0);
  });
});
