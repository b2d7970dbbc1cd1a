// Nobody gets a header into a request or an answer that he has no say in: not through values with line breaks, not
// through names, addresses, transforms or mails, and not through spellings that a receiver takes for another header.
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { buildOutboundRequest, type OutboundInput } from '../../outbound/http/outbound-request.ts';
import { createMailer } from '../../outbound/mail.ts';
import { isMediaType, valueBytes } from '../../core/http/headers.ts';
import { outboundInput } from '../http/outbound-inputs.ts';
import { asError, asResponse, closedAfterEach, request } from '../http/senders.ts';
import { httpServer, socketServer } from '../http/servers.ts';
import { expectError } from '../support/api-client.ts';
import { startMailServer } from '../support/messages/mail-server.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const EVIL_VALUES = [
  'a\r\nX-Injected: 1',
  'a\nX-Injected: 1',
  'a\rX-Injected: 1',
  'a\r\n\r\nGET /injected HTTP/1.1\r\nHost: b\r\n\r\n',
  'a\0b',
  'a\u0001',
  'a\u007f',
];
const EVIL_NAMES = [
  'X-A\r\nX-Injected',
  'X-A\nX-Injected',
  'X-A: 1\r\nX-Injected',
  'X A',
  'X-A:',
  '',
  'X-\u00e9',
  'X\0A',
];
const printable = (text: string) => JSON.stringify(text);

describe('Header injection', () => {
  const input = (url: string, changes: Partial<OutboundInput['destination']> = {}) =>
    outboundInput({ url, ...changes });

  describe('into a request that is sent', () => {
    const open = closedAfterEach();

    /** A request is refused before a byte of it is written. */
    async function neverWritten(make: (url: string) => OutboundInput): Promise<void> {
      let bytes = 0;
      const port = await socketServer((socket: Socket) => socket.on('data', (part) => (bytes += part.length)));
      const outbound = buildOutboundRequest(make(`http://127.0.0.1:${port}/`));
      const { method, url, headers, body } = outbound;
      expect(asError(await open().send(request(url, { method, headers, body })))).to.include({ retryable: false });
      expect(bytes).to.equal(0);
    }

    for (const value of EVIL_VALUES) {
      it(`is refused by the value ${printable(value)}, wherever it stands`, async () => {
        await neverWritten((url) => ({ ...input(url), event: { ...input(url).event, headers: { 'x-a': value } } }));
        await neverWritten((url) => input(url, { headers: { 'X-A': value } }));
        await neverWritten((url) => input(url, { authType: 'bearer', authConfig: { token: value } }));
        const authConfig = { headerName: 'X-Key', key: value };
        await neverWritten((url) => input(url, { authType: 'api_key', authConfig }));
      });
    }
    for (const name of EVIL_NAMES) {
      it(`is refused by the name ${printable(name)}, wherever it stands`, async () => {
        await neverWritten((url) => ({ ...input(url), event: { ...input(url).event, headers: { [name]: '1' } } }));
        await neverWritten((url) => input(url, { headers: { [name]: '1' } }));
        const authConfig = { headerName: name, headerValue: '1' };
        await neverWritten((url) => input(url, { authType: 'custom_header', authConfig }));
      });
    }

    it('does not come through the credentials of Basic or the reason of a failover', async () => {
      const port = await httpServer((received, response) => response.end(JSON.stringify(received.rawHeaders)));
      const url = `http://127.0.0.1:${port}/`;
      for (const value of EVIL_VALUES) {
        const made = buildOutboundRequest({
          ...input(url, { authType: 'basic', authConfig: { username: value, password: value } }),
          failover: { originalDestination: 'dst_1', failureReason: value },
        });
        const { method, headers, body } = made;
        const answer = asResponse(await open().send(request(url, { method, headers, body })));
        const names = (JSON.parse(answer.bodyText) as string[]).filter((_text, at) => at % 2 === 0);
        expect(names.map((name) => name.toLowerCase())).to.not.include('x-injected');
      }
    });

    it('does not come through an address: line breaks in it are no part of the request', async () => {
      const targets: string[] = [];
      const port = await httpServer((received, response) => {
        targets.push(`${received.url} ${Object.keys(received.headers).includes('x-injected')}`);
        response.end();
      });
      for (const path of [
        '/a\r\nX-Injected: 1',
        '/a HTTP/1.1\r\nX-Injected: 1\r\n\r\n',
        '/a?b=\r\nX-Injected:1',
        '/\0',
      ]) {
        await open().send(request(`http://127.0.0.1:${port}${path}`));
      }
      expect(targets.join())
        .to.not.include('true')
        .and.not.match(/[\r\n\0]/);
      expect(targets).to.have.length(4);
    });

    it('does not come through a transform, which names a content type and nothing else', () => {
      for (const value of EVIL_VALUES) expect(isMediaType(`text/plain; a=${value}`), printable(value)).to.equal(false);
    });

    it('does not come through spellings that some receivers take for another header', () => {
      const received = {
        content_length: '0',
        transfer_encoding: 'chunked',
        Transfer_Encoding: 'chunked',
        x_forwarded_for: '192.0.2.1',
        x_forwarded_proto: 'https',
        proxy_authorization: 'Basic eDp5',
        authorization_: 'kept',
        http_x: 'kept',
        authorization: 'Bearer theirs',
        cookie: 'a=b',
        x_hookyard_event_id: 'evt_forged',
        'X_Hookyard-Attempt': '99',
        x_team: 'red',
        'x-api-key': 'theirs',
        webhook_signature: 'v1,forged',
        'webhook-id': 'forged',
        x_own: 'kept',
      };
      const changes: Partial<OutboundInput['destination']> = {
        headers: { 'X-Team': 'blue' },
        authType: 'api_key',
        authConfig: { headerName: 'X_Api_Key', key: 'ours' },
        signingSecret: `whsec_${Buffer.alloc(24).toString('base64')}`,
      };
      const base = input('http://receiver.example/', changes);
      const { headers } = buildOutboundRequest({ ...base, event: { ...base.event, headers: received } });
      expect(Object.keys(headers)).to.have.members([
        ...['authorization_', 'http_x', 'x_own', 'User-Agent', 'X-Team', 'X_Api_Key'],
        ...['X-Hookyard-Event-Id', 'X-Hookyard-Delivery-Id', 'X-Hookyard-Attempt', 'X-Hookyard-Source'],
        ...['X-Hookyard-Hops', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
      ]);
      expect(headers).to.include({ 'X-Hookyard-Event-Id': 'evt_1', 'webhook-id': 'evt_1', X_Api_Key: 'ours' });
    });
  });

  describe('into what is stored and delivered', () => {
    const { testInstance, records, receiver } = useHookyard();

    it('is refused when a destination is made', async () => {
      const create = (changes: object) =>
        testInstance.client.request('POST', '/api/destinations', { name: 'D', url: 'https://d.example', ...changes });
      for (const value of EVIL_VALUES) {
        expectError(await create({ headers: { 'X-A': value } }), 400, 'VALIDATION_ERROR');
        expectError(await create({ authType: 'bearer', authConfig: { token: value } }), 400, 'VALIDATION_ERROR');
        const url = `https://d.example/${value}`;
        // NUL is refused in any text, before it is looked at as an address.
        expectError(await create({ url }), 400, value.includes('\0') ? 'VALIDATION_ERROR' : 'INVALID_URL');
      }
      const names = [
        'Host',
        'Content-Length',
        'content_length',
        'Transfer_Encoding',
        'Proxy_Authorization',
        'Connection',
      ];
      for (const name of [...EVIL_NAMES, ...names]) {
        expectError(await create({ headers: { [name]: '1' } }), 400, 'VALIDATION_ERROR');
        const authConfig = { headerName: name, key: '1' };
        expectError(await create({ authType: 'api_key', authConfig }), 400, 'VALIDATION_ERROR');
      }
      for (const url of ['https://user:pass@d.example', 'https://user@d.example', 'https://:pass@d.example']) {
        expectError(await create({ url }), 400, 'INVALID_URL', /credentials/);
      }
    });

    it('is part of a value that only Latin-1 would cut', async () => {
      const endpoint = receiver.endpoint(200);
      const value = 'a\u010d\u010aX-Injected: 1';
      const { source } = await records.pipe(endpoint.url, { destination: { headers: { 'X-A': value } } });
      await records.eventWith('delivered', await records.accepted(source, '{}'));
      const [{ headers = {} } = {}] = endpoint.requests;
      expect(headers)
        .to.include({ 'x-a': valueBytes(value) })
        .and.to.not.have.any.keys('x-injected');
    });

    it('never reaches a receiver, even when it is in the database already', async () => {
      const endpoint = receiver.endpoint(200);
      const { destination } = await records.pipe(endpoint.url);
      for (const value of EVIL_VALUES.filter((text) => !text.includes('\0'))) {
        await testInstance.pool.query('update destinations set headers = $2 where id = $1', [
          destination.id,
          JSON.stringify({ 'X-A': value }),
        ]);
        const answer = await testInstance.client.post(`/api/destinations/${destination.id}/test`, {});
        expect(answer, printable(value)).to.include({ success: false });
      }
      expect(endpoint.requests).to.deep.equal([]);
    });
  });

  it('does not get into a mail: a line break in a name ends no header', async () => {
    const server = await startMailServer();
    const mailer = createMailer(() => server.url);
    try {
      await mailer.send({
        messageId: '<a@b>',
        from: 'hookyard@example.com',
        to: ['ops@example.com'],
        subject: '[Hookyard] orders\r\nBcc: victim@example.com\r\n\r\ninjected',
        text: 'text',
        html: '<p>text</p>',
      });
      const [mail] = server.mails;
      expect(mail?.to).to.deep.equal(['ops@example.com']);
      expect(mail?.headers).to.not.have.property('bcc');
      expect(Object.keys(mail?.parts ?? {})).to.have.members(['text/plain', 'text/html']);
      const content = { messageId: '<a@b>', from: 'hookyard@example.com', subject: 'a', text: 'a', html: 'a' };
      for (const to of [
        'ops@example.com>\r\nRCPT TO:<victim@example.com',
        'ops@example.com\r\nDATA\r\nTo: victim@example.com',
        'ops@example.com, victim@example.com',
      ]) {
        // Taken for an odd address, or refused: either way nobody else gets it.
        await mailer.send({ ...content, to: [to] }).catch(() => undefined);
      }
      expect(server.mails.flatMap((each) => each.to)).to.not.include('victim@example.com');
    } finally {
      mailer.close();
      await server.close();
    }
  });
});
