// The API as a process: start, refusal to start, and a clean end.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { createClient } from '../support/api-client.ts';
import { createOrganization, runToEnd, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('API process', () => {
  it('prints its settings with secrets masked, and its address', async () => {
    const service = await startService('api', { HOOKYARD_API_KEY: 'whr_shown_to_nobody_0123456789' });
    expect(service.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    await until('the address in the log', () => service.output().includes(`listens on ${service.url}`));
    expect(service.output()).to.include('DATABASE_URL=****').and.include('HOOKYARD_API_KEY=****');
    expect(service.output()).to.not.include('shown_to_nobody');
    expect(await service.stop()).to.equal(0);
  });

  it('refuses a port that is taken with one line that names HOOKYARD_PORT', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const { code, output } = await runToEnd('api', { HOOKYARD_PORT: port, LOG_LEVEL: 'warn' });
    other.close();
    expect(code).to.equal(1);
    expect(output.trim().split('\n')).to.have.length(1);
    expect(output).to.include(`Port ${port}`).and.include('HOOKYARD_PORT');
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ['an unknown setting', { HOOKYARD_COLOUR: 'blue' }, /^HOOKYARD_COLOUR is not a setting/],
    ['a setting out of range', { HOOKYARD_PORT: '70000' }, /^HOOKYARD_PORT must be between/],
    ['no database', { DATABASE_URL: '' }, /^DATABASE_URL must be set/],
    [
      'an encryption key that does not open the data',
      { HOOKYARD_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 7).toString('base64')}` },
      /^HOOKYARD_ENCRYPTION_KEYS: /,
    ],
    ['an allow list that cannot be read', { HOOKYARD_DELIVERY_ALLOW: 'not an address' }, /^HOOKYARD_DELIVERY_ALLOW: /],
  ];
  for (const [what, env, line] of refused) {
    it(`refuses ${what} with one clear line`, async () => {
      const { api } = await createOrganization();
      // There is data that only the right key opens.
      await api.create('/api/destinations', {
        name: 'x',
        url: 'https://receiver.example',
        authType: 'bearer',
        authConfig: { token: 'secret-token' },
      });
      const { code, output } = await runToEnd('api', { LOG_LEVEL: 'warn', ...env });
      expect(code).to.equal(1);
      expect(output.trim().split('\n')).to.have.length(1);
      expect(output).to.match(line);
    });
  }

  it('serves records and reports not ready while Temporal is away', async () => {
    const service = await startService('api', { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    const organization = await createOrganization({ service });
    await organization.api.create('/api/destinations', { name: 'x', url: 'https://receiver.example' });
    const answer = await createClient(service.url, null).request('GET', '/readyz');
    expect(answer.status).to.equal(503);
    expect(answer.body.message).to.include('temporal').and.not.include('database');
    expect(await service.stop()).to.equal(0);
  });

  it('finishes a running request before it ends', async () => {
    const service = await startService('api');
    const organization = await createOrganization({ service });
    // A body that arrives in two parts keeps the request running across the signal.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encode = (text: string) => new TextEncoder().encode(text);
    const request: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { Authorization: `Bearer ${organization.token}`, 'Content-Type': 'application/json' },
      body: readable,
      duplex: 'half',
    };
    const answer = fetch(`${service.url}/api/destinations`, request);
    await writer.write(encode('{"name":"slow",'));
    // The first part has arrived when the server has asked the database who this is; a second request proves it is alive.
    await createClient(service.url, organization.token).get('/api/auth/me');
    const ended = service.stop();
    await until('the end to begin', () => service.output().includes('stopping'));
    await writer.write(encode('"url":"https://receiver.example"}'));
    await writer.close();
    expect((await answer).status).to.equal(201);
    expect(await ended).to.equal(0);
  });
});
