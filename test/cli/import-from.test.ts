// hookyard import --from: lists in the shapes that the APIs of other products answer.
import { expect } from 'chai';
import { convert } from '../../cli/import-from.ts';
import { useCommandLine } from '../support/programs/cli.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const at = '2026-08-20T10:00:00.000Z';
const FORGE = { header: 'X-Hub-Signature-256', hash: 'SHA256', encoding: 'hex', secret: 'of the forge' };

const LISTS: Record<string, unknown> = {
  hookdeck: {
    models: [
      {
        ...{ id: 'web_1', name: 'paid orders', full_name: 'shop -> paid orders', team_id: 'tm_1', created_at: at },
        source: { id: 'src_1', name: 'shop', type: 'SHOPIFY', url: 'https://hkdk.events/x', config: {} },
        destination: {
          ...{ id: 'des_1', name: 'crm', description: null, type: 'HTTP' },
          config: {
            ...{ url: 'https://crm.example.com/hooks', rate_limit: 5, rate_limit_period: 'second' },
            ...{ auth_type: 'BEARER_TOKEN', auth: { token: 'of the crm' } },
          },
        },
        rules: [
          { type: 'retry', strategy: 'exponential', count: 5, interval: 30_000 },
          { type: 'filter', body: { order: { total: { $gte: 100 } }, status: 'paid' }, headers: { 'x-shop': 'a' } },
        ],
        ...{ disabled_at: null, paused_at: null },
      },
      {
        ...{ id: 'web_2', name: null, source: { name: 'shop', type: 'SHOPIFY' }, disabled_at: null, paused_at: null },
        destination: { id: 'des_2', name: 'erp', type: 'HTTP', config: { url: 'https://erp.example.com/' } },
        rules: [{ type: 'transform', transformation_id: 'trs_1' }],
      },
      { id: 'web_3', source: { name: 'shop' }, destination: { id: 'des_3', name: 'laptop', type: 'CLI', config: {} } },
    ],
  },
  convoy: {
    data: {
      content: [
        {
          ...{ uid: 'sub_1', name: 'Orders', type: 'api', function: '' },
          source_metadata: {
            ...{ uid: 'src_1', name: 'Git', type: 'http', provider: 'github' },
            verifier: { type: 'hmac', hmac: FORGE },
          },
          endpoint_metadata: {
            ...{ uid: 'end_1', name: 'Intégration', url: 'https://ci.example.com/', status: 'active' },
            ...{
              http_timeout: 10,
              rate_limit: 120,
              rate_limit_duration: 60,
              secrets: [{ uid: 's_1', value: 'Vuk5LM0uujddIsqO5v' }],
            },
            authentication: { type: 'api_key', api_key: { header_name: 'X-Key', header_value: 'of the CI' } },
          },
          filter_config: { event_types: ['*'], filter: { body: { $or: [{ a: 1 }, { b: 2 }] }, headers: {} } },
          retry_config: { type: 'linear', duration: 10, retry_count: 3 },
        },
      ],
    },
  },
  svix: {
    ...{ iterator: 'ep_1', prevIterator: '-ep_1', done: true },
    data: [
      {
        ...{ id: 'ep_1', url: 'https://a.example.com/', description: 'A', version: 1, metadata: {}, disabled: true },
        ...{ filterTypes: ['user.created', 'user.deleted'], channels: null, rateLimit: 2, createdAt: at },
      },
      { ...{ id: 'ep_2', url: 'https://b.example.com/', description: '' }, channels: ['project_123'] },
    ],
  },
  outpost: [
    {
      ...{ id: 'des_1', type: 'webhook', topics: ['user.*', 'order.paid'], disabled_at: null, created_at: at },
      filter: { data: { amount: { $gte: 100 }, tier: { $in: ['a', 'b'] } } },
      config: { url: 'https://a.example.com/in', custom_headers: '{"x-tenant":"acme"}' },
      credentials: { secret: SECRET },
    },
    { ...{ id: 'des_2', type: 'aws_sqs', topics: '*', disabled_at: null }, config: {}, credentials: {} },
  ],
};
const EXPECTED: Record<string, { destination: object; routes: object[]; left: string[] }> = {
  hookdeck: {
    destination: {
      ...{ name: 'crm', slug: 'crm', type: 'http', url: 'https://crm.example.com/hooks' },
      ...{ forwardPath: true, forwardQuery: true, rateLimitPerMinute: 300 },
      retryPolicy: { maxRetries: 5, initialDelay: 30_000, maxDelay: 86_400_000, backoffMultiplier: 2 },
      ...{ authType: 'bearer', authConfig: { token: 'of the crm' } },
    },
    routes: [
      {
        ...{ name: 'paid orders', sourceSlug: 'shop', destinationSlugs: ['crm'], isActive: true, filterLogic: 'AND' },
        filterConditions: [
          { field: 'payload.order.total', operator: 'gte', value: 100 },
          { field: 'payload.status', operator: 'equals', value: 'paid' },
          { field: 'headers.x-shop', operator: 'equals', value: 'a' },
        ],
      },
      { name: 'shop to erp', sourceSlug: 'shop', destinationSlugs: ['erp'], isActive: false },
    ],
    left: [
      'verification of source "shop" (SHOPIFY); the source is disabled',
      'rule "transform" in route "shop to erp"; the route is disabled',
      'destination "laptop" (CLI)',
    ],
  },
  convoy: {
    destination: {
      ...{ name: 'Intégration', slug: 'integration', type: 'http', url: 'https://ci.example.com/', timeoutMs: 10_000 },
      ...{ rateLimitPerMinute: 120, authType: 'api_key', authConfig: { headerName: 'X-Key', key: 'of the CI' } },
      retryPolicy: { maxRetries: 3, initialDelay: 10_000, maxDelay: 10_000, backoffMultiplier: 1 },
    },
    routes: [{ name: 'Orders', sourceSlug: 'git', destinationSlugs: ['integration'], isActive: false }],
    left: [
      'filter on "payload" ($or) in route "Orders"; the route is disabled',
      'verification of source "Git" (hmac); the source is disabled',
      'signatures of destination "Intégration" (X-Convoy-Signature)',
    ],
  },
  svix: {
    destination: { name: 'A', slug: 'a', type: 'http', url: 'https://a.example.com/', rateLimitPerMinute: 120 },
    routes: [
      {
        ...{ name: 'acme to A', sourceSlug: 'acme', destinationSlugs: ['a'], isActive: false, filterLogic: 'AND' },
        filterConditions: [{ field: 'payload.type', operator: 'in', value: ['user.created', 'user.deleted'] }],
      },
      {
        ...{ name: 'acme to b.example.com ep_2', sourceSlug: 'acme', isActive: false },
        destinationSlugs: ['b-example-com-ep-2'],
      },
    ],
    left: [
      'secret, headers and transformation of destination "ep_1" (this list does not include them)',
      'channels (project_123) in route "acme to b.example.com ep_2"; the route is disabled',
      'secret, headers and transformation of destination "ep_2" (this list does not include them)',
    ],
  },
  outpost: {
    destination: {
      ...{ name: 'a.example.com des_1', slug: 'a-example-com-des-1', type: 'http', url: 'https://a.example.com/in' },
      ...{ headers: { 'x-tenant': 'acme' }, signingSecret: SECRET },
    },
    routes: [
      {
        ...{ name: 'acme to a.example.com des_1', sourceSlug: 'acme', isActive: true, filterLogic: 'AND' },
        destinationSlugs: ['a-example-com-des-1'],
        filterConditions: [
          { field: 'payload.type', operator: 'matches', value: '^(user\\..*|order\\.paid)$' },
          { field: 'payload.amount', operator: 'gte', value: 100 },
          { field: 'payload.tier', operator: 'in', value: ['a', 'b'] },
        ],
      },
    ],
    left: ['destination "des_2" (aws_sqs)'],
  },
};

describe('hookyard import --from', () => {
  const { cli, fails, file } = useCommandLine();
  const options = { source: 'acme', eventType: 'payload.type' };

  for (const [product, list] of Object.entries(LISTS)) {
    it(`converts a list of ${product}, and imports it twice`, async () => {
      const { destinations, routes, left } = convert(product, list, options);
      const expected = EXPECTED[product];
      expect(destinations[0]).to.deep.equal(expected?.destination);
      expect(routes).to.deep.equal(expected?.routes);
      expect(left).to.deep.equal(expected?.left);

      const path = file(`${product}.json`, JSON.stringify(list));
      const command = ['import', path, '--from', product, '--source', 'acme', '--on-conflict', 'skip'];
      expect(await cli.json(...command, '--dry-run')).to.deep.include({ routes, left });
      const imported = await cli.run(command);
      const count = (what: unknown[]) => `imported ${what.length}, skipped 0, overwritten 0, failed 0`;
      expect(imported.stdout, imported.stderr).to.equal(
        `destinations: ${count(destinations)}\nroutes: ${count(routes)}\n`,
      );
      for (const each of left) expect(imported.stderr).to.include(`Not imported: ${each}\n`);
      expect(await cli.ok(...command)).to.match(/^destinations: imported 0, .*\nroutes: imported 0, /);
    });
  }

  it('refuses other files', async () => {
    const path = file('none.json', '{"data": {}}');
    await fails(2, /svix/, 'import', path, '--from', 'svix', '--on-conflict', 'skip');
    await fails(2, /--from/, 'import', path, '--from', 'kafka', '--on-conflict', 'skip');
    await fails(2, /destinations or routes/, 'import', path, '--on-conflict', 'skip');
  });
});
