// hookyard mcp over HTTP: who may call it, and how it ends; and what a key or a service that fails makes of calls.
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { type Running, useCommandLine } from '../support/programs/cli.ts';
import { callsOf } from '../support/programs/mcp.ts';
import { until } from '../support/until.ts';

const TOKEN = 'a-token-of-the-tests-0123456789-abcdef';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('hookyard mcp --http', () => {
  const { cli, fails } = useCommandLine();
  let served: Running;
  let url: string;
  before(async () => {
    served = cli.start(['mcp', '--http', '--port', '0', '--allow-host', 'mcp.example'], {
      env: { HOOKYARD_MCP_TOKEN: TOKEN },
      deadlineMs: 600_000,
    });
    url = await until('the server', () => /running at (\S+) \(read-only\)/.exec(served.stdout())?.[1]);
  });

  const connect = async (mode: 'legacy' | 'auto', token = TOKEN) => {
    const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return client;
  };

  /** Sends what a client would, with headers of its own. */
  const send = async (headers: Record<string, string>, body = JSON.stringify(PING), path = '/mcp') => {
    const { hostname, port } = new URL(url);
    const sent = request({
      ...{ hostname, port, path, method: 'POST' },
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${TOKEN}`,
        ...headers,
      },
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode as number, headers: response.headers, body: await text(response) };
  };

  for (const mode of ['legacy', 'auto'] as const) {
    it(`serves the official client, negotiating as ${mode}`, async () => {
      const client = await connect(mode);
      expect(client.getProtocolEra()).to.equal(mode === 'auto' ? 'modern' : 'legacy');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name))
        .to.include('list_failures')
        .and.to.not.include('replay_events');
      const { data, summary } = await callsOf(client).call('list_failures', { since: '1h' });
      expect(summary).to.match(/^Nothing has failed since /);
      expect(data).to.include({ deliveries: 0, isComplete: true });
      await client.close();
    });
  }

  it('refuses who has no token, or a wrong one', async () => {
    const { status, headers, body } = await send({ Authorization: '' });
    expect([status, headers['www-authenticate']]).to.deep.equal([401, 'Bearer']);
    expect(body).to.include('HOOKYARD_MCP_TOKEN').and.to.not.include(TOKEN);
    expect(await send({ Authorization: `Bearer ${TOKEN}x` })).to.include({ status: 401 });
    expect(await send({ Authorization: `Basic ${TOKEN}` })).to.include({ status: 401 });
    expect(await connect('legacy', 'wrong').catch(String)).to.match(/Send Authorization: Bearer/);
  });

  it('refuses pages of browsers that call it under a name or from an origin of their own', async () => {
    expect(await send({ Host: 'evil.example' })).to.include({ status: 403 });
    expect(await send({ Host: '127.0.0.1.evil.example' })).to.include({ status: 403 });
    for (const Origin of ['https://evil.example', 'null']) expect(await send({ Origin })).to.include({ status: 403 });
    expect(await send({ Host: 'mcp.example', Origin: 'https://mcp.example' })).to.include({ status: 200 });
    expect(await send({ Host: 'localhost:1', Origin: 'http://localhost:5173' })).to.include({ status: 200 });
  });

  it('refuses what is no request of a client, without a stack', async () => {
    expect(await send({}, '{}', '/')).to.include({ status: 404 });
    const large = await send({}, JSON.stringify({ ...PING, params: { filler: 'x'.repeat(1_100_000) } }));
    expect(large).to.include({ status: 413 });
    for (const body of ['', '{', '[]', '{"jsonrpc":"2.0","id":1,"method":"nothing"}']) {
      const told = await send({}, body);
      expect(told.body, body)
        .to.include('"error"')
        .and.to.not.match(/\bat .*:\d+:\d+/);
    }
    expect(await send({})).to.include({ status: 200 });
  });

  it('makes a token if there is none, refuses one that could be guessed, and options that go without it', async () => {
    const made = cli.start(['mcp', '--http', '--port', '0', '--write', '--json'], {});
    const told = await until('its address', () => made.stdout().endsWith('}\n') && JSON.parse(made.stdout()));
    expect(told.token).to.match(/^[\w-]{43}$/);
    expect(told).to.include({ canWrite: true });
    made.signal('SIGTERM');
    expect(await made.ended).to.include({ code: 0 });
    const weak = await cli.run(['mcp', '--http', '--port', '0'], { env: { HOOKYARD_MCP_TOKEN: 'short' } });
    expect(weak).to.include({ code: 2 });
    expect(weak.stderr).to.include('openssl rand -hex 32');
    await fails(2, /require --http/, 'mcp', '--port', '1');
    await fails(2, /choose another port with --port/, 'mcp', '--http', '--port', new URL(url).port);
  });

  it('ends when it is asked to', async () => {
    served.signal('SIGTERM');
    expect(await served.ended).to.include({ code: 0 });
    const piped = cli.start(['mcp'], { input: '' });
    expect(await piped.ended).to.include({ code: 0, stdout: '' });
  });
});
