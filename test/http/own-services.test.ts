import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { hostAndPort } from '../../core/http/urls.ts';
import { ownServices } from '../../core/http/addresses.ts';
import { createOwnServices } from '../../outbound/http/protected-services.ts';
import { createLookUps, guardedConnector, type Resolve } from '../../outbound/http/guarded-connect.ts';
import { parseAllowList } from '../../outbound/http/address-guard.ts';

const settings = {
  HOOKYARD_PORT: 3000,
  HOOKYARD_HOST: '127.0.0.1',
  OTEL_EXPORTER_PROMETHEUS_PORT: 0,
  OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
  DATABASE_URL: undefined,
  DATABASE_DIRECT_URL: undefined,
  TEMPORAL_UI_URL: undefined,
  SMTP_URL: undefined,
  HOOKYARD_DELIVERY_ALLOW: [],
};
const table: Record<string, string[]> = {
  'db.internal': ['10.0.0.5', 'fd12::5'],
  'ui.example': ['93.184.216.34'],
  'db.example': ['93.184.216.35'],
  'db6.example': ['64:ff9b::5db8:d823'],
  localhost: ['127.0.0.1', '::1'],
};
const resolve: Resolve = (hostname, callback) => {
  const addresses = table[hostname]?.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (addresses) process.nextTick(callback, null, addresses);
  else process.nextTick(callback, Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
};
const own = async (host: string, port: number) => {
  const services = createOwnServices([{ host, port }], resolve);
  await services.prepare(port);
  return services;
};

describe('own services', () => {
  it('are what the settings name, with the ports that go without saying', () => {
    const found = ownServices(
      {
        ...settings,
        HOOKYARD_HOST: '0.0.0.0',
        OTEL_EXPORTER_PROMETHEUS_PORT: undefined,
        OTEL_EXPORTER_PROMETHEUS_HOST: '10.0.0.9',
        DATABASE_URL: 'postgres://a:b@db.internal/hookyard',
        DATABASE_DIRECT_URL: 'postgres://a:b@direct.internal:5433/hookyard',
        TEMPORAL_UI_URL: 'https://ui.example/temporal',
        SMTP_URL: 'smtp://a:b@[fd12::9]:2525',
        HOOKYARD_DELIVERY_ALLOW: ['10.0.0.0/8', '!metrics.internal:9090', '![fd12::7]:80'],
      },
      'temporal.internal:7233',
    );
    expect(found.map(({ host, port }) => `${host} ${port}`)).to.deep.equal([
      'localhost 3000',
      '0.0.0.0 3000',
      'localhost 9464',
      '10.0.0.9 9464',
      'localhost 9465',
      '10.0.0.9 9465',
      'db.internal 5432',
      'direct.internal 5433',
      'temporal.internal 7233',
      'ui.example 443',
      'fd12::9 25',
      'fd12::9 465',
      'fd12::9 587',
      'fd12::9 2525',
      'metrics.internal 9090',
      'fd12::7 80',
    ]);
  });

  it('are on this machine when PostgreSQL is reached through a folder, and nowhere for a port that is not known yet', () => {
    const found = ownServices(
      { ...settings, HOOKYARD_PORT: 0, DATABASE_URL: 'postgres:///hookyard?host=/run/postgresql&port=5433' },
      'temporal',
    );
    expect(found).to.deep.equal([
      { host: 'localhost', port: 5433 },
      { host: 'temporal', port: 7233 },
    ]);
  });

  it('are at every address of this machine, when they are on it', async () => {
    const services = await own('localhost', 8233);
    const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    for (const address of [...addresses, '127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1']) {
      expect(services.include('receiver.example', address, 8233), address).to.equal(true);
      expect(services.include('receiver.example', address, 8234), address).to.equal(false);
    }
    expect(services.include('receiver.example', '10.99.99.99', 8233)).to.equal(false);
  });

  it('are at every address of their name, and have that name', async () => {
    const services = await own('db.internal', 5432);
    for (const address of ['10.0.0.5', '::ffff:10.0.0.5', 'fd12::5', 'fd12:0:0::5']) {
      expect(services.include('other.example', address, 5432), address).to.equal(true);
    }
    expect(services.include('other.example', '10.0.0.6', 5432)).to.equal(false);
    expect(services.include('other.example', '127.0.0.1', 5432)).to.equal(false);
    expect(services.isNamed('DB.Internal.', 5432)).to.equal(true);
    expect((await own('gone.internal', 5432)).isNamed('gone.internal', 5432)).to.equal(true);
  });

  it('are at the addresses that earlier answers for their name had, for an hour', async () => {
    const answers = [['10.0.0.1'], ['10.0.0.2'], [], ['10.0.0.2'], ['10.0.0.3']];
    let now = 0;
    const rotating: Resolve = (_, callback) =>
      callback(
        null,
        (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
      );
    const services = createOwnServices([{ host: 'db.internal', port: 5432 }], rotating, () => now);
    const at = async (minutes: number) => {
      now = minutes * 60_000;
      await services.prepare(5432);
      return [1, 2, 3].filter((last) => services.include('other.example', `10.0.0.${last}`, 5432));
    };
    expect(await at(0)).to.deep.equal([1]);
    expect(await at(1), 'another answer').to.deep.equal([1, 2]);
    expect(await at(30), 'an empty answer').to.deep.equal([1, 2]);
    expect(await at(59)).to.deep.equal([1, 2]);
    expect(await at(61), 'after its hour').to.deep.equal([2, 3]);
  });

  it('keep the addresses they had while their name cannot be resolved, however long', async () => {
    let now = 0;
    let isAway = false;
    const failing: Resolve = (hostname, callback) => resolve(isAway ? 'gone.internal' : hostname, callback);
    const services = createOwnServices([{ host: 'db.internal', port: 5432 }], failing, () => now);
    await services.prepare(5432);
    isAway = true;
    now = 24 * 3_600_000;
    await services.prepare(5432);
    expect(services.include('other.example', '10.0.0.5', 5432)).to.equal(true);
    expect(services.include('other.example', '10.0.0.6', 5432)).to.equal(false);
  });

  it('remember a bounded number of addresses, the latest ones', async () => {
    let round = 0;
    const rotating: Resolve = (_, callback) => callback(null, [{ address: `10.0.1.${round}`, family: 4 }]);
    // All within the hour, and each look-up a new one.
    const services = createOwnServices([{ host: 'db.internal', port: 5432 }], rotating, () => round * 31_000);
    for (; round < 100; round += 1) await services.prepare(5432);
    const known = Array.from({ length: 100 }, (_, at) => at).filter((at) =>
      services.include('other.example', `10.0.1.${at}`, 5432),
    );
    expect(known).to.deep.equal(Array.from({ length: 64 }, (_, at) => at + 36));
  });

  it('may be at any address of their port that is not public, until their name has been resolved', async () => {
    const services = await own('gone.internal', 5432);
    for (const address of ['10.0.0.5', '127.0.0.1', 'fd12::5', '169.254.1.1']) {
      expect(services.mayInclude(address, 5432), address).to.equal(true);
      expect(services.mayInclude(address, 5433), address).to.equal(false);
      expect((await own('db.internal', 5432)).mayInclude(address, 5432), address).to.equal(false);
    }
    expect(services.mayInclude('93.184.216.35', 5432)).to.equal(false);

    const allow = parseAllowList(['127.0.0.1']);
    const lookUp = createLookUps({ resolve });
    const connect = guardedConnector({ allow: () => allow, own: services, connectTimeoutMs: 1000, lookUp });
    const target = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'http:', port: '5432' };
    const error = await new Promise((done) =>
      connect(target, (...outcome) => done(outcome[0]), { organizationId: 'org_1' }),
    );
    expect(error).to.include({ code: 'OWN_SERVICE_UNRESOLVED' });
  });

  it('are at the NAT64 forms of their IPv4 addresses', async () => {
    const nat64 = '64:ff9b::5db8:d823';
    expect((await own('db.example', 5432)).include('other.example', nat64, 5432)).to.equal(true);
    expect((await own('93.184.216.35', 5432)).include('other.example', nat64, 5432)).to.equal(true);
    expect((await own('db6.example', 5432)).include('other.example', '93.184.216.35', 5432)).to.equal(true);
    expect((await own('db.example', 5432)).include('other.example', '64:ff9b::5db8:d824', 5432)).to.equal(false);
    const ipv4 = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter(({ family }) => family === 'IPv4'),
    );
    const onMachine = await own('localhost', 8233);
    for (const { address } of ipv4) {
      expect(onMachine.include('other.example', `64:ff9b::${address}`, 8233), address).to.equal(true);
    }
  });

  it('share a public address with others on the ports of the web, where only the name counts', async () => {
    const ui = await own('ui.example', 443);
    expect(ui.include('other.example', '93.184.216.34', 443)).to.equal(false);
    expect(ui.include('UI.example', '93.184.216.34', 443)).to.equal(true);
    expect((await own('db.example', 5432)).include('other.example', '93.184.216.35', 5432)).to.equal(true);
  });

  it('are read as host and port', () => {
    expect(hostAndPort('Temporal-UI:8080')).to.deep.equal({ host: 'temporal-ui', port: 8080 });
    expect(hostAndPort('[::1]:80')).to.deep.equal({ host: '::1', port: 80 });
    for (const text of ['a', 'a:0', 'a:65536', 'a:b', '::1:80', 'http://a:1', 'a b:1', ':1']) {
      expect(hostAndPort(text), text).to.equal(null);
    }
  });
});
