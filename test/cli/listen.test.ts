import { createServer, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createClient } from '../../client/index.ts';
import { valueBytes } from '../../core/http/headers.ts';
import { openSession } from '../../cli/listen/session.ts';
import { ingest, makeDestination, makeRoute } from '../support/api-records.ts';
import { commandLine, type Running, useCommandLine } from '../support/programs/cli.ts';
import { requirePython } from '../support/programs/python.ts';
import { send } from '../support/requests/http-client.ts';
import type { DeliveryView } from '../support/records.ts';
import { listen } from '../support/servers/listen.ts';
import { createOrganization, sharedService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

describe('hookyard listen', () => {
  const { organization, cli, fails } = useCommandLine();
  const receiver = useReceiver();
  before(() => sharedService('worker'));

  async function listening(args: string[], by = cli): Promise<Running> {
    const command = by.start(['listen', '0', ...args]);
    await until('hookyard listen is ready', () => command.stderr().includes('Stop with Ctrl-C'));
    return command;
  }
  /** Ctrl-C. */
  async function end(command: Running, signal: NodeJS.Signals = 'SIGINT') {
    command.signal(signal);
    const ended = await command.ended;
    expect(ended.code, ended.stderr).to.equal(0);
    return ended;
  }
  const counts = async () => {
    const paths = [`${organization.base}/sources`, '/api/destinations', '/api/routes'];
    return Promise.all(paths.map(async (path) => (await organization.api.list(path)).pagination.total));
  };

  it('shows what arrives, and removes the source it made too', async () => {
    const command = await listening(['--source', 'fresh']);
    expect(await counts()).to.deep.equal([1, 1, 1]);
    const eventId = (await cli.ok('send', '--source', 'fresh', '--provider', 'github', '--event', 'issues')).trim();
    const isShown = () => /found a bug/i.test(command.stdout()) && command.stdout().includes(eventId);
    await until('the delivery is shown', isShown);
    expect(command.stdout()).to.match(new RegExp(`POST ${eventId}  delivery dlv_\\w+\n`));
    expect(command.stdout()).to.include('x-github-event: issues').and.to.include('"title": "Found a bug"');
    expect(command.stdout()).not.to.include('content-length');
    expect((await end(command)).stderr.trim().split('\n').at(-1)).to.equal(
      "This session's destination and route were removed, as was the source fresh.",
    );
    expect(await counts()).to.deep.equal([0, 0, 0]);
  });

  it('uses a source that is there and leaves it, forwards, and passes the answer back', async () => {
    const target = receiver.endpoint(500, { status: 200, body: 'thanks' });
    await cli.ok('sources', 'create', 'kept');
    const command = await listening(['--source', 'kept', '--forward', target.url, '--json']);
    const { eventId } = await cli.json<{ eventId: string }>('send', '--source', 'kept', '--data', '{"order":42}');
    const lines = await until('the repeat is shown', () => {
      const shown = command.stdout().trim().split('\n');
      return shown.length === 2 && shown.map((line) => JSON.parse(line));
    });
    expect(lines[0]).to.deep.include({ eventId, attempt: 1, body: { order: 42 }, answered: 500 });
    expect(lines[1]).to.deep.include({ eventId, attempt: 2, answered: 200 });
    expect(target.requests.map(({ body }) => body.toString())).to.deep.equal(['{"order":42}', '{"order":42}']);
    expect(await cli.ok('events', 'watch', eventId)).to.include(`${eventId}: delivered`);
    await end(command, 'SIGTERM');
    expect(await counts()).to.deep.equal([1, 0, 0]);
  });

  it('passes everything on byte by byte, to any port, and the answer back', async () => {
    const body = gzipSync('{"order":42}');
    const answered = [
      ...['Content-Encoding', 'gzip', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
      ...['X-City', valueBytes('Łódź')],
    ];
    const requests: IncomingMessage[] = [];
    const bodies: Buffer[] = [];
    const program = createServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()));
      requests.push(request);
      // What a browser would follow, and decode.
      const status = requests.length === 1 ? 500 : 307;
      response.writeHead(status, [...answered, 'Location', '/elsewhere']).end(gzipSync('thanks'));
    });
    // fetch refuses it, as browsers do.
    const { close } = await listen(program, '127.0.0.1', 10_080);
    try {
      const command = await listening(['--source', 'bytes', '--forward', 'http://127.0.0.1:10080/in', '--json']);
      const { webhookUrl } = await cli.json<{ webhookUrl: string }>('sources', 'show', 'bytes');
      const headers = {
        ...{ 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-customer': valueBytes('Renée') },
        ...{ referer: 'https://shop.example', 'x-old': 'Renée' },
      };
      const sent = await send('POST', organization.api.url + new URL(webhookUrl).pathname, headers, body);
      expect(sent.status).to.equal(200);
      await until('the repeat', () => requests.length > 1);
      for (const [index, request] of requests.entries()) {
        expect(bodies[index]?.equals(body)).to.equal(true);
        expect(request.headers).to.include({ ...headers, 'content-length': String(body.length) });
        expect(request.headers).to.not.have.any.keys('sec-fetch-mode', 'accept-language', 'accept-encoding');
      }
      const { data } = await organization.api.list<{ id: string }>('/api/deliveries');
      const delivery = await until('the answer to be recorded', async () => {
        const found = await organization.api.get<DeliveryView>(`/api/deliveries/${data[0]?.id}`);
        return found.attempts.length > 1 && found;
      });
      expect(delivery.attempts.map(({ statusCode }) => statusCode)).to.deep.equal([500, 307]);
      expect(delivery.attempts[1]?.responseHeaders).to.include({
        ...{ 'content-encoding': 'gzip', 'set-cookie': 'a=1, b=2', 'x-city': 'Łódź', location: '/elsewhere' },
      });
      const shown = JSON.parse(command.stdout().split('\n')[0] ?? '') as { headers: object };
      expect(shown.headers).to.include({ 'x-customer': 'Renée', 'x-old': 'Renée', 'content-encoding': 'gzip' });
      await end(command);
    } finally {
      await close();
    }
  });

  it('has the last delivery sent again when r is pressed in a terminal, also in one line each', async function () {
    requirePython(this);
    const target = receiver.endpoint(500, 200, 200);
    await cli.ok('sources', 'create', 'pressed');
    const args = ['listen', '0', '--source', 'pressed', '--compact', '--forward', target.url];
    const command = cli.start(args, { inTerminal: true, env: { NO_COLOR: '1' } });
    await until('it is ready', () => command.stdout().includes('Press r'));
    command.type('r');
    await until('it says that there is nothing', () => command.stdout().includes('No delivery to send again yet'));
    const destinations = await organization.api.list<{ id: string; name: string }>('/api/destinations?search=listen');
    // It would attempt it again by itself soon.
    const retryPolicy = { initialDelay: 3_600_000, maxDelay: 3_600_000 };
    for (const { id } of destinations.data) await organization.api.patch(`/api/destinations/${id}`, { retryPolicy });
    const eventId = (await cli.ok('send', '--source', 'pressed')).trim();
    await until('the failed attempt', () => command.stdout().includes('-> 500'));
    const deliveries = async () => (await organization.api.list(`/api/deliveries?eventId=${eventId}`)).data;
    await until('it waits', async () => (await deliveries())[0]?.status === 'retrying');
    command.type('r');
    await until('the next attempt', () => /attempt 2 {2}-> 200/.test(command.stdout()));
    await until('it is delivered', async () => (await deliveries())[0]?.status === 'delivered');
    command.type('r');
    await until('the replay', () => target.requests.length === 3);
    await until('it says so', () => /Replayed dlv_\w+ as dlv_\w+/.test(command.stdout()));
    command.type('\u0003');
    expect((await command.ended).code).to.equal(0);
    expect(command.stdout()).to.include("This session's destination and route were removed");
  });

  it('takes deliveries at its own address only', async () => {
    const command = await listening(['--source', 'quiet']);
    const port = /on port (\d+)/.exec(command.stderr())?.[1];
    expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).status).to.equal(404);
    expect((await end(command)).stdout).to.equal('');
  });

  const gone: [how: string, end: (command: Running) => Promise<unknown>][] = [
    ['is closed with its terminal', async (command) => command.signal('SIGHUP')],
    [
      'has nobody who reads it',
      async (command) => {
        command.stopReading('stdout', 'stderr');
        await cli.ok('send', '--source', 'left');
      },
    ],
  ];
  for (const [how, end] of gone) {
    it(`removes everything when it ${how}`, async () => {
      const before = await counts();
      const command = await listening(['--source', 'left']);
      expect(await counts()).to.deep.equal(before.map((count) => count + 1));
      await end(command);
      expect((await command.ended).code).to.equal(0);
      expect(await counts()).to.deep.equal(before);
    });
  }

  it('never takes routes of others and their events with it when it ends', async () => {
    const client = createClient({ url: organization.api.url, apiKey: organization.token });
    const { origin, pathname, port } = new URL(receiver.endpoint(200, 200).url);
    const session = await openSession(client, {
      ...{ slug: 'busy', base: origin, path: pathname, port: Number(port) },
      ...{ conditions: () => [], allowPaths: false, ownSourceId: null, onChange: () => {} },
    });
    const { id } = session.source;
    const other = await makeRoute(organization, id, [(await makeDestination(organization)).id]);
    const event = await ingest(organization, session.source, '{}');
    // Somebody who reads the list of destinations.
    await client.deleteDestination({ id: session.destinationId });
    expect(await session.remove()).to.deep.equal({ ids: [session.routeId], left: [], source: 'kept' });
    await client.getRoute({ id: other.id });
    await client.getEvent({ id: event });
    await client.deleteSource({ id });
  });

  it('says what is needed when the service does not reach this machine, and leaves nothing behind', async () => {
    const before = await counts();
    const strict = await startService('api', { HOOKYARD_DELIVERY_ALLOW: '' });
    try {
      const allow = /start the service with HOOKYARD_DELIVERY_ALLOW=127\.0\.0\.1/;
      await fails(5, allow, 'listen', '0', '--source', 'unreachable', '--url', strict.url);
    } finally {
      await strict.stop();
    }
    const elsewhere = ['--source', 'unreachable', '--address', 'http://127.0.0.1:9/'];
    await fails(5, /--address/, 'listen', '0', ...elsewhere);
    expect(await counts()).to.deep.equal(before);
  });

  /** The actions of the audit log that name a record. */
  const recorded = async (id: string) =>
    (await organization.api.list<{ action: string }>(`/api/audit?recordId=${id}`)).data.map(({ action }) => action);

  it('removes what a killed session has left, by the operations of the API, and takes its source over', async () => {
    const before = await counts();
    const killed = await listening(['--source', 'left']);
    const { id: sourceId } = await cli.json<{ id: string }>('sources', 'show', 'left');
    const { data } = await organization.api.list<{ id: string }>(`/api/routes?sourceId=${sourceId}`);
    const { id: routeId, destinationIds } = await organization.api.get<{ id: string; destinationIds: string[] }>(
      `/api/routes/${data[0]?.id}`,
    );
    const [destinationId = ''] = destinationIds;
    killed.signal('SIGKILL');
    await killed.ended;
    expect(await counts()).to.deep.equal(before.map((count) => count + 1));

    const next = await listening(['--source', 'left']);
    for (const id of [routeId, destinationId]) expect(next.stderr()).to.include(id);
    expect(await counts()).to.deep.equal(before.map((count) => count + 1));
    expect(await recorded(destinationId)).to.include('deleteDestination');
    expect(await recorded(routeId)).to.deep.equal(['deleteRoute', 'createRoute']);

    next.signal('SIGKILL');
    await next.ended;
    await cli.ok('sources', 'create', 'another');
    const last = await listening(['--source', 'another']);
    expect(last.stderr()).to.include(sourceId);
    expect(await recorded(sourceId)).to.include('deleteSource');
    await end(last);
    expect(await counts()).to.deep.equal([(before[0] ?? 0) + 1, before[1], before[2]]);
    const quiet = await listening(['--source', 'another']);
    expect(quiet.stderr()).not.to.include('Removed');
    await end(quiet);
    await cli.ok('sources', 'delete', 'another');
  });

  it('leaves the records of other sessions that are under way, and of other organizations', async () => {
    const before = await counts();
    const stranger = await createOrganization();
    const elsewhere = commandLine(stranger);
    const theirs = await listening(['--source', 'theirs'], elsewhere);
    theirs.signal('SIGKILL');
    await theirs.ended;
    const [first, second] = [await listening(['--source', 'both']), await listening(['--source', 'both'])];
    expect(second.stderr()).not.to.include('Removed');
    expect(await counts()).to.deep.equal([(before[0] ?? 0) + 1, (before[1] ?? 0) + 2, (before[2] ?? 0) + 2]);
    expect((await end(first)).stderr).to.include('the source both was kept');
    await end(second);
    await cli.ok('sources', 'delete', 'both');
    const again = await listening(['--source', 'mine'], elsewhere);
    expect(again.stderr()).to.include('Removed the records of an earlier session: rte_');
    await end(again);
  });
});
