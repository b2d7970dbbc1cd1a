// Every outbound caller against the address guard: spellings of forbidden addresses, names that change their address,
// redirects, proxies, metadata services, and addresses hidden in credentials.
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import { warehouseConfigSchemas } from '../../core/warehouse/config.ts';
import { resolveTo } from '../http/senders.ts';
import { closeAll, httpServer, socketServer } from '../http/servers.ts';
import { serviceAccountKey } from '../support/warehouse/object-stores.ts';
import { createOrganization, sharedService } from '../support/service.ts';
import { withEnvironment } from '../support/programs/environment.ts';
import { until } from '../support/until.ts';
import { caseOf, targetOf } from '../support/warehouse/warehouse-targets.ts';
import { callers } from './outbound-callers.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/** Literals that lead to this machine, or to where only machines of a cloud may ask. */
const FORBIDDEN_HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.0.1.', '0x7f.1', '0X7F000001', '0177.0.0.1', '017700000001', '2130706433'],
  ...['１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '0', '0x0'],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::FFFF:7F00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
  ],
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '[::ffff:169.254.169.254]', '169.254.170.2', '[fe80::1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ...[
    '168.63.129.16',
    '100.100.100.200',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '255.255.255.255',
    '224.0.0.1',
    '[ff02::1]',
  ],
];
/** Literals in networks that an operator may open. */
const PRIVATE_HOSTS = [
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '0xa000001',
  '[fd12::1]',
  '[::ffff:10.0.0.1]',
];
const FORBIDDEN_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'db.internal',
  'xn--bcher-kva.example',
  'bücher.example',
];
const EVERY_RANGE = ['0.0.0.0/0', '::/0', '127.0.0.0/8', '.example', '.internal'];

for (const caller of callers) {
  describe(`Network out: ${caller.name}`, () => {
    afterEach(closeAll);

    it('refuses every spelling of a forbidden address, whatever range is open, and connects to none', async () => {
      let connections = 0;
      const port = await socketServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      const client = caller.open({ allow: EVERY_RANGE, resolve: resolveTo('127.0.0.1') });
      for (const host of [...FORBIDDEN_HOSTS, ...FORBIDDEN_NAMES]) {
        const outcome = await client.call(`http://${host}:${port}`);
        expect(outcome, host).to.include({ refused: true });
        expect(outcome.message, host).to.include('HOOKYARD_DELIVERY_ALLOW');
      }
      await client.close();
      expect(connections).to.equal(0);
    });

    it('refuses private networks until they are opened', async () => {
      const client = caller.open({ allow: [], resolve: resolveTo('10.1.2.3') });
      for (const host of [...PRIVATE_HOSTS, 'crm.internal', 'store.example']) {
        expect(await client.call(`http://${host}:1`), host).to.include({ refused: true });
      }
      await client.close();
    });

    it('refuses a name when one of its addresses is forbidden', async () => {
      for (const addresses of [
        ['93.184.216.34', '127.0.0.1'],
        ['::1', '93.184.216.34'],
        ['93.184.216.34', '::ffff:10.0.0.1'],
      ]) {
        const client = caller.open({ allow: [], resolve: resolveTo(...addresses) });
        expect(await client.call('http://rebind.example:1'), addresses.join()).to.include({ refused: true });
        await client.close();
      }
    });

    it('connects to the address it has checked, and checks again for the next connection', async () => {
      let requests = 0;
      const port = await httpServer((received, response) => {
        requests += 1;
        received.resume().on('end', () => response.setHeader('Connection', 'close').end('{}'));
      });
      // 127.0.0.1 stands for a public address: it alone is open. A second look-up would get the forbidden one.
      const answers = ['127.0.0.1', '127.0.0.2'];
      let lookups = 0;
      const client = caller.open({
        allow: ['127.0.0.1'],
        resolve: (hostname, callback) => {
          lookups += 1;
          resolveTo(answers.shift() ?? '127.0.0.3')(hostname, callback);
        },
      });
      expect(await client.call(`http://rebind.example:${port}`)).to.include({ refused: false });
      expect({ requests, lookups }).to.deep.equal({ requests: 1, lookups: 1 });
      const again = await client.call(`http://rebind.example:${port}`);
      expect(again).to.include({ refused: true });
      expect(again.message).to.match(/rebind\.example resolves to 127\.0\.0\.2, which is a loopback address/);
      expect({ requests, lookups }).to.deep.equal({ requests: 1, lookups: 2 });
      await client.close();
    });

    for (const status of [301, 302, 303, 307, 308]) {
      it(`does not follow a redirect with ${status}, not even to an address that is open`, async () => {
        let followed = 0;
        const target = await httpServer((_received, response) => {
          followed += 1;
          response.end('{}');
        });
        let asked = 0;
        const port = await httpServer((received, response) => {
          asked += 1;
          const location = `http://127.0.0.1:${target}${received.url}`;
          received.resume().on('end', () => response.writeHead(status, { Location: location }).end());
        });
        const client = caller.open();
        expect(await client.call(`http://127.0.0.1:${port}`)).to.include({ ok: false });
        await client.close();
        expect({ asked, followed }).to.deep.equal({ asked: 1, followed: 0 });
      });
    }

    it('asks no proxy and no metadata service that the environment names', async () => {
      const strangers: string[] = [];
      const stranger = await socketServer((socket) => {
        strangers.push('connection');
        socket.destroy();
      });
      let asked = 0;
      const port = await httpServer((received, response) => {
        asked += 1;
        received.resume().on('end', () => response.end('{}'));
      });
      await withEnvironment(hostileEnvironment(stranger), async () => {
        const client = caller.open();
        expect(await client.call(`http://127.0.0.1:${port}`)).to.include({ refused: false });
        await client.close();
      });
      expect({ strangers, asked }).to.deep.equal({ strangers: [], asked: 1 });
    });
  });
}

describe('Network out: credentials that name addresses', () => {
  afterEach(closeAll);
  const config = { bucket: 'hookyard-events', projectId: 'hookyard-test' };
  const key = JSON.parse(serviceAccountKey()) as Record<string, unknown>;

  it('are never asked: a service account needs no token, whatever its token_uri', async () => {
    let asked = 0;
    const stranger = await socketServer(() => {
      asked += 1;
    });
    const address = `http://127.0.0.1:${stranger}/`;
    const hostile = { ...key, token_uri: address, auth_uri: address, auth_provider_x509_cert_url: address };
    const parsed = warehouseConfigSchemas.gcs.parse({ ...config, serviceAccountKey: JSON.stringify(hostile) });
    const received: IncomingMessage[] = [];
    const port = await httpServer((request, response) => {
      received.push(request);
      request.resume().on('end', () => response.end('{}'));
    });
    const warehouses = createWarehouses({ allow: ['127.0.0.1'] });
    const target = targetOf(caseOf('gcs'), undefined, { ...parsed, endpoint: `http://127.0.0.1:${port}` });
    await warehouses.put(target, { key: 'a', body: Buffer.from('a'), contentType: 'text/plain', metadata: {} }, 10_000);
    await warehouses.close();
    expect(received).to.have.length(1);
    // A token opens every bucket of its account, so it is not shown to another server than Google's.
    expect(received[0]?.headers).to.not.have.property('authorization');
    expect(asked).to.equal(0);
  });

  const others: [string, object][] = [
    ['an external account', { type: 'external_account', credential_source: { url: 'http://169.254.169.254/' } }],
    ['an authorized user', { type: 'authorized_user', refresh_token: 'a', client_id: 'b', client_secret: 'c' }],
    [
      'an impersonated account',
      { type: 'impersonated_service_account', service_account_impersonation_url: 'http://127.0.0.1/' },
    ],
    ['another universe', { universe_domain: 'internal.example' }],
  ];
  for (const [what, members] of others) {
    it(`are refused when they are ${what}`, () => {
      const serviceAccountText = JSON.stringify({ ...key, ...members });
      const parsed = warehouseConfigSchemas.gcs.safeParse({ ...config, serviceAccountKey: serviceAccountText });
      expect(parsed.success).to.equal(false);
    });
  }
});

describe('Network out: the API', () => {
  it('guards test sends and test uploads', async () => {
    await sharedService('api');
    const { api } = await createOrganization();
    const secrets = { accessKeyId: 'a', secretAccessKey: 'b' };
    const endpoint = 'http://169.254.169.254';
    const destinations: object[] = [
      { type: 'http', url: `${endpoint}/latest/meta-data/` },
      { type: 'http', url: 'http://[::1]:1/' },
      { type: 's3', config: { bucket: 'events', region: 'eu-central-1', ...secrets, endpoint } },
      { type: 'r2', config: { bucket: 'events', ...secrets, endpoint } },
      {
        type: 'gcs',
        config: { bucket: 'events', projectId: 'hookyard-test', serviceAccountKey: serviceAccountKey(), endpoint },
      },
      { type: 'azure_blob', config: { accountName: 'events', accountKey: 'YQ==', containerName: 'events', endpoint } },
    ];
    for (const fields of destinations) {
      const { id, warnings } = await api.create('/api/destinations', { name: 'Inside', ...fields });
      if ('url' in fields) expect(warnings).to.have.length(1);
      const result = await api.post(`/api/destinations/${id}/test`);
      expect(result).to.include({ success: false });
      expect(result.error, JSON.stringify(fields)).to.match(/(loopback|link-local) address.*HOOKYARD_DELIVERY_ALLOW/);
    }
  });
});

describe('Network out: with proxies in the environment', () => {
  let connections = 0;
  let proxy = 0;
  before(async () => {
    proxy = await socketServer((socket) => {
      connections += 1;
      socket.destroy();
    });
  });
  const settings = () => hostileEnvironment(proxy);
  const { testInstance, records, receiver } = useHookyard({ settings, workers: [{}] });
  after(closeAll);

  it('reaches PostgreSQL, Temporal and destinations directly', async () => {
    const deep = () => testInstance.client.request('GET', '/readyz?deep');
    await until('the API to reach both', async () => (await deep()).status === 200);
    const endpoint = receiver.endpoint(200);
    const { destination } = await records.deliver(endpoint.url, '{"a":1}', 'delivered');
    const tested = await testInstance.client.post(`/api/destinations/${destination.id}/test`, {});
    expect(tested).to.include({ success: true });
    expect(endpoint.requests).to.have.length(2);
    expect(connections).to.equal(0);
  });
});

/** Everything that makes clients go elsewhere: proxies, metadata services and emulators at this port. */
function hostileEnvironment(port: number): Record<string, string> {
  const address = `127.0.0.1:${port}`;
  const url = `http://${address}`;
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'GRPC_PROXY'].flatMap((name) => [
    name,
    name.toLowerCase(),
  ]);
  return {
    ...Object.fromEntries(proxies.map((name) => [name, url])),
    NO_PROXY: '',
    no_proxy: '',
    no_grpc_proxy: '',
    NODE_USE_ENV_PROXY: '1',
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/credentials`,
    AWS_PROFILE: 'nobody',
    GCE_METADATA_HOST: address,
    GCE_METADATA_IP: address,
    METADATA_SERVER_DETECTION: 'assume-present',
    STORAGE_EMULATOR_HOST: url,
    IDENTITY_ENDPOINT: url,
    MSI_ENDPOINT: url,
  };
}
