// A tenant names Hookyard's own services as destinations, where the operator has opened the addresses they listen on.
import dns from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { LOOPBACK_ENDED, LOOPBACK_FOR_ONE } from '../../core/http/addresses.ts';
import { freePorts } from '../../local/ports.ts';
import { closeAll, socketServer } from '../http/servers.ts';
import { listeningPorts } from '../support/servers/listening.ts';
import { startMailServer } from '../support/messages/mail-server.ts';
import { createOrganization, type Service } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useHookyard, useMade, useStarted } from '../support/use-hookyard.ts';
import { removeOrganization } from '../support/rows.ts';

const OWN = /belongs to Hookyard itself/;
const HOOK = JSON.stringify({ attack: true });

describe('Own services as destinations', () => {
  let worker: Service;
  let targets: Record<string, number>;
  let hosts: string[];
  let connections = 0;
  const mail = useStarted(startMailServer);

  const count = (socket: Socket) => {
    connections += 1;
    socket.destroy();
  };

  const ports = useMade('ports', async () => {
    // On every address of the machine, as a service may be.
    const [ui, denied] = await Promise.all([socketServer(count, '::'), socketServer(count, '::')]);
    const [metrics = 0] = await freePorts(1);
    hosts = await namesOfThisMachine();
    return { ui, denied, metrics };
  });
  const { testInstance, records, receiver } = useHookyard({
    settings: () => ({
      HOOKYARD_DELIVERY_ALLOW: [
        ...hosts.map((host) => host.replace(/^\[|\]$/g, '')),
        // As `npm start` does for what one process cannot know of another.
        ...[ports.denied, ports.metrics].map((port) => `!localhost:${port}`),
      ].join(','),
      TEMPORAL_UI_URL: `http://localhost:${ports.ui}`,
      SMTP_URL: mail.url,
      HOOKYARD_NOTIFY_FROM: 'hookyard@sender.example',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(ports.metrics),
    }),
  });
  before(async () => {
    const { ui, denied, metrics } = ports;
    const { databaseUrl, temporalAddress } = stackAddresses();
    targets = {
      'the Temporal UI': ui,
      'what the operator denies': denied,
      Temporal: Number(temporalAddress.split(':').at(-1)),
      PostgreSQL: Number(new URL(databaseUrl).port),
      'the mail server': mail.port,
      'the API': Number(new URL(testInstance.api.url).port),
      'the metrics of the API': metrics,
      'the metrics of the worker': metrics + 1,
    };
    worker = await testInstance.startWorker({
      HOOKYARD_PORT: String(targets['the API']),
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metrics + 1),
    });
  });
  after(closeAll);

  it('are refused in test sends, by every address and name of this machine', async () => {
    const { id } = await records.destination('http://127.0.0.1:1/');
    for (const [what, port] of Object.entries(targets)) {
      for (const host of [...hosts, ...OTHER_SPELLINGS]) {
        await testInstance.client.patch(`/api/destinations/${id}`, { url: `http://${host}:${port}/` });
        const result = await testInstance.client.post(`/api/destinations/${id}/test`);
        expect(result.error, `${what} at ${host}`).to.match(OWN);
      }
    }
    expect(connections).to.equal(0);
  });

  it('are refused in deliveries, the port of Temporal’s SDK too', async () => {
    const ofTheSdk = (listeningPorts(worker.pid) ?? []).filter((port) => !Object.values(targets).includes(port));
    if (process.platform === 'linux') expect(ofTheSdk).to.have.length(1);
    for (const [what, port] of [...Object.entries(targets), ...ofTheSdk.map((port) => ['the SDK', port] as const)]) {
      const allowed = { route: { allowOwnAddress: true } };
      const { delivery } = await records.deliver(`http://localhost:${port}/`, HOOK, 'failed', allowed);
      expect(delivery.error, what).to.match(OWN);
    }
    for (const host of hosts) {
      const { delivery } = await records.deliver(`http://${host}:${targets['the Temporal UI']}/`, HOOK, 'failed');
      expect(delivery.error, host).to.match(OWN);
    }
    expect(connections).to.equal(0);
  });

  it('are refused but for the addresses of sources, which a route may allow', async () => {
    const [first, second] = [await records.source(), await records.source()];
    const { pathname } = new URL(second.webhookUrl);
    const at = (path: string) => `http://localhost:${targets['the API']}${path}`;
    const { id } = await records.destination(at(pathname));
    await records.route(first.id, [id], { allowOwnAddress: true });
    await records.deliveryWith('delivered', await records.accepted(first, HOOK));
    for (const path of ['/api/auth/me', '/ingest/../api/auth/me', '/ingest/%2e%2e/api/auth/me', '/ingestion', '/']) {
      await testInstance.client.patch(`/api/destinations/${id}`, { url: at(path) });
      const delivery = await records.deliveryWith('failed', await records.accepted(first, HOOK));
      expect(delivery.error, path).to.match(OWN);
    }
  });

  it('are refused in uploads of workers', async () => {
    const { id } = await testInstance.client.create('/api/destinations', warehouse(targets['the Temporal UI'] ?? 0));
    const source = await records.source();
    await records.route(source.id, [id]);
    await records.accepted(source, HOOK);
    const batch = await until('a failed upload', async () => {
      const { data } = await testInstance.client.list(`/api/destinations/${id}/batches`);
      return data.find(({ lastError }) => lastError !== null);
    });
    expect(batch.lastError).to.match(OWN);
    expect(connections).to.equal(0);
  });

  it('leave every other port of the same addresses open', async () => {
    const endpoint = receiver.endpoint(200);
    const { destination } = await records.deliver(endpoint.url, HOOK, 'delivered');
    expect(await testInstance.client.post(`/api/destinations/${destination.id}/test`)).to.include({ success: true });
    expect(endpoint.requests).to.have.length(2);
  });
});

describe('Loopback that is open for one organization', () => {
  const settings = { HOOKYARD_DELIVERY_ALLOW: LOOPBACK_FOR_ONE };
  const { testInstance, records, receiver } = useHookyard({ settings, workers: [{}] });

  it('closes with the second one, in both processes and on open connections, and opens again with its end', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, destination } = await records.pipe(endpoint.url);
    const test = () => testInstance.client.post(`/api/destinations/${destination.id}/test`);
    const ends = async (status: string) => records.deliveryWith(status, await records.accepted(source, HOOK));
    await ends('delivered');
    expect(await test()).to.include({ success: true });

    const { id } = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
    await until('test sends to be refused', async () => !(await test()).success);
    expect((await test()).error).to.match(/is a loopback address; see HOOKYARD_DELIVERY_ALLOW/);
    const closed = await until('deliveries to be refused', async () => {
      const eventId = await records.accepted(source, HOOK);
      await until('its end', async () => ['delivered', 'failed'].includes((await records.event(eventId)).status));
      const [delivery] = await records.deliveries(eventId);
      return delivery?.status === 'failed' && delivery;
    });
    expect(closed.error).to.match(/is a loopback address; see HOOKYARD_DELIVERY_ALLOW/);
    for (const service of [testInstance.api, ...testInstance.workers]) {
      expect(service.output()).to.include(LOOPBACK_ENDED);
    }

    const requests = endpoint.requests.length;
    await ends('failed');
    expect(endpoint.requests).to.have.length(requests);
    await removeOrganization(testInstance.pool, id);
    await until('test sends to be taken', async () => (await test()).success);
  });
});

/** Ways to write these addresses that are no entries of the allow list themselves. */
const OTHER_SPELLINGS = ['127.1', '2130706433', '[::ffff:127.0.0.1]', 'LOCALHOST', '0'];

/** Its addresses, and the names that lead to them. */
async function namesOfThisMachine(): Promise<string[]> {
  const addresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ address }) => !address.startsWith('fe80'))
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
  const own = hostname().toLowerCase();
  const isKnown = await dns.lookup(own).then(
    () => true,
    () => false,
  );
  return [...new Set(['127.0.0.1', '[::1]', '0.0.0.0', '[::]', 'localhost', ...addresses, ...(isKnown ? [own] : [])])];
}

function warehouse(port: number) {
  const secrets = { accessKeyId: 'a', secretAccessKey: 'b' };
  const endpoint = `http://127.0.0.1:${port}`;
  const config = { bucket: 'events', region: 'eu-central-1', ...secrets, endpoint, batchSize: 1 };
  return { name: 'Lake', type: 's3', config };
}
