// One event to one destination: the request it gets, and what becomes of the delivery with every kind of answer.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type Hookyard, sharedHookyard } from '../support/hookyard.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records } from '../support/records.ts';
import { leakedLines, PLANTED, searchHistories } from '../support/secrecy.ts';
import { until } from '../support/until.ts';

const KIBIBYTE = 1024;
const BODY = JSON.stringify({ note: `${PLANTED} payload` });

describe('a delivery', () => {
  let yard: Hookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [yard, receiver] = await Promise.all([sharedHookyard(), startReceiver()]);
    records = new Records(yard);
  });
  after(() => Promise.all([yard.close(), receiver.close()]));

  /** Sends BODY through a new pipe and waits for the end of its delivery. */
  async function deliver(url: string, ending: string, fields: Parameters<Records['pipe']>[1] = {}) {
    const pipe = await records.pipe(url, fields);
    const eventId = await records.accepted(pipe.source, BODY);
    return { ...pipe, eventId, delivery: await records.deliveryWith(ending, eventId) };
  }

  describe('sends', () => {
    it('the received headers except those of the connection, credentials and proxies, and its own', async () => {
      const endpoint = receiver.endpoint(200);
      const { source } = await records.pipe(endpoint.url, { destination: { headers: { 'X-Team': 'blue' } } });
      const eventId = await records.accepted(source, BODY, {
        'content-type': 'application/json',
        'x-shop': 'north',
        accept: '*/*',
        'x-team': 'red',
        'x-hookyard-attempt': '99',
        host: 'hooks.example.com',
        cookie: 'session=1',
        authorization: 'Bearer for-hookyard',
        forwarded: 'for=192.0.2.1',
        'x-forwarded-for': '192.0.2.1',
        'accept-encoding': 'gzip',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        te: 'trailers',
      });
      const delivery = await records.deliveryWith('delivered', eventId);
      const [request] = endpoint.requests;
      expect(request?.method).to.equal('POST');
      expect(request?.headers).to.include({
        'content-type': 'application/json',
        'x-shop': 'north',
        accept: '*/*',
        'x-team': 'blue',
        'content-length': `${BODY.length}`,
        host: new URL(endpoint.url).host,
        'x-hookyard-event-id': eventId,
        'x-hookyard-delivery-id': delivery.id,
        'x-hookyard-attempt': '1',
        'x-hookyard-source': source.slug,
      });
      expect(request?.headers['user-agent']).to.match(/^Hookyard\/\d/);
      expect(request?.headers).to.not.have.any.keys(
        ...['cookie', 'authorization', 'forwarded', 'x-forwarded-for', 'accept-encoding', 'x-hop', 'te'],
      );
    });

    for (const method of ['POST', 'PUT', 'PATCH']) {
      it(`${method} when the destination says so`, async () => {
        const endpoint = receiver.endpoint(200);
        await deliver(endpoint.url, 'delivered', { destination: { method } });
        expect(endpoint.requests[0]?.method).to.equal(method);
      });
    }

    const secret = `${PLANTED}-credential`;
    const basic = `Basic ${Buffer.from(`shop:${secret}`).toString('base64')}`;
    const credentials: [authType: string, authConfig: object, header: string, value: string][] = [
      ['basic', { username: 'shop', password: secret }, 'authorization', basic],
      ['bearer', { token: secret }, 'authorization', `Bearer ${secret}`],
      ['api_key', { headerName: 'X-Api-Key', key: secret }, 'x-api-key', secret],
      ['custom_header', { headerName: 'X-Shop-Token', headerValue: secret }, 'x-shop-token', secret],
    ];
    for (const [authType, authConfig, header, value] of credentials) {
      it(`the credentials of authType ${authType}, masked in the record of the attempt`, async () => {
        const endpoint = receiver.endpoint(200);
        const { delivery } = await deliver(endpoint.url, 'delivered', { destination: { authType, authConfig } });
        expect(endpoint.requests[0]?.headers[header]).to.equal(value);
        expect(JSON.stringify(delivery)).to.not.include(value);
        const recorded = Object.entries(delivery.attempts[0]?.requestHeaders ?? {});
        const [, masked] = recorded.find(([name]) => name.toLowerCase() === header) ?? [];
        expect(masked).to.match(/^••••/);
      });
    }

    it('a signature by Standard Webhooks when the destination has a signing secret', async () => {
      const endpoint = receiver.endpoint(503, 200);
      const key = Buffer.from(`${PLANTED}-signing-key-of-32-bytes`);
      const signingSecret = `whsec_${key.toString('base64')}`;
      const { eventId } = await deliver(endpoint.url, 'delivered', {
        destination: { signingSecret, retryPolicy: onceMore(1) },
      });
      expect(endpoint.requests).to.have.length(2);
      for (const { headers, body } of endpoint.requests) {
        const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers;
        expect(id, 'the same in every attempt').to.equal(eventId);
        expect(Math.abs(Number(time) - Date.now() / 1000)).to.be.below(60);
        const right = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
        expect(signature).to.equal(`v1,${right}`);
      }
    });
  });

  describe('is retried', () => {
    it('by the policy of the destination until it succeeds, with the same ids', async () => {
      const endpoint = receiver.endpoint(500, 429, 404, 200);
      const { delivery, eventId } = await deliver(endpoint.url, 'delivered', {
        destination: { retryPolicy: onceMore(3) },
      });
      expect(delivery.attemptCount).to.equal(4);
      expect(
        delivery.attempts.map((attempt) => [attempt.attemptNumber, attempt.status, attempt.statusCode]),
      ).to.deep.equal([
        [1, 'failed', 500],
        [2, 'failed', 429],
        [3, 'failed', 404],
        [4, 'success', 200],
      ]);
      expect(endpoint.requests.map((request) => request.headers['x-hookyard-attempt'])).to.deep.equal([
        '1',
        '2',
        '3',
        '4',
      ]);
      expect(new Set(endpoint.requests.map((request) => request.headers['x-hookyard-delivery-id']))).to.deep.equal(
        new Set([delivery.id]),
      );
      expect(new Set(endpoint.requests.map((request) => request.headers['x-hookyard-event-id']))).to.deep.equal(
        new Set([eventId]),
      );
      expect(new Set(endpoint.requests.map((request) => request.body.toString()))).to.deep.equal(new Set([BODY]));
    });

    it('until the policy is exhausted, then fails', async () => {
      const endpoint = receiver.endpoint(500);
      const { delivery, eventId } = await deliver(endpoint.url, 'failed', {
        destination: { retryPolicy: onceMore(2) },
      });
      expect(endpoint.requests).to.have.length(3);
      expect(delivery).to.include({ attemptCount: 3, statusCode: 500, error: 'The destination answered 500' });
      expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesFailed: 1 });
    });

    it('when nobody listens, with an error that says so', async () => {
      const port = await freePort();
      const { delivery } = await deliver(`http://127.0.0.1:${port}/`, 'failed', {
        destination: { retryPolicy: onceMore(1) },
      });
      expect(delivery.attempts).to.have.length(2);
      expect(delivery.statusCode).to.equal(null);
      expect(delivery.error).to.match(/refused/);
    });

    it('when the connection breaks before the answer is complete', async () => {
      const server = createServer((socket) => socket.once('data', () => socket.destroy()));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const { delivery } = await deliver(`http://127.0.0.1:${port}/`, 'failed', {
        destination: { retryPolicy: onceMore(1) },
      });
      await new Promise((resolve) => server.close(resolve));
      expect(delivery.attempts).to.have.length(2);
      expect(delivery.error).to.match(/closed the connection/);
    });

    const minute = 60_000;
    const waits: [what: string, value: () => string][] = [
      ['seconds', () => '120'],
      ['a date', () => new Date(Date.now() + 2 * minute).toUTCString()],
    ];
    for (const [what, value] of waits) {
      it(`not before the Retry-After of a 503 in ${what}`, async () => {
        const endpoint = receiver.endpoint({ status: 503, headers: { 'retry-after': value() } }, 200);
        const { delivery } = await deliver(endpoint.url, 'retrying', { destination: { retryPolicy: onceMore(1) } });
        const wait = Date.parse(delivery.nextAttemptAt ?? '') - Date.now();
        expect(wait).to.be.within(minute, 2 * minute);
        await yard.client.post(`/api/deliveries/${delivery.id}/cancel`);
      });
    }

    it('as planned when Retry-After asks for less, and an hour later at most', async () => {
      const short = receiver.endpoint({ status: 429, headers: { 'retry-after': '1' } });
      const long = receiver.endpoint({ status: 429, headers: { 'retry-after': '86400' } });
      const policy = { destination: { retryPolicy: onceMore(1, 10 * minute) } };
      const [planned, capped] = await Promise.all([
        deliver(short.url, 'retrying', policy),
        deliver(long.url, 'retrying', policy),
      ]);
      expect(Date.parse(planned.delivery.nextAttemptAt ?? '') - Date.now()).to.be.above(8 * minute);
      expect(Date.parse(capped.delivery.nextAttemptAt ?? '') - Date.now()).to.be.within(50 * minute, 60 * minute);
      await yard.client.post(`/api/deliveries/${planned.delivery.id}/cancel`);
      await yard.client.post(`/api/deliveries/${capped.delivery.id}/cancel`);
    });
  });

  describe('fails', () => {
    it('at once on 410, which means gone for good', async () => {
      const endpoint = receiver.endpoint(410);
      const { delivery } = await deliver(endpoint.url, 'failed', { destination: { retryPolicy: onceMore(5) } });
      expect(delivery).to.include({ attemptCount: 1, statusCode: 410 });
      expect(endpoint.requests).to.have.length(1);
    });

    it('on a redirect, which is not followed', async () => {
      const elsewhere = receiver.endpoint(200);
      const endpoint = receiver.endpoint({ status: 302, headers: { location: elsewhere.url } });
      const { delivery } = await deliver(endpoint.url, 'failed');
      expect(delivery).to.include({ statusCode: 302, error: 'The destination answered 302' });
      expect(elsewhere.requests).to.have.length(0);
    });

    it('when the answer does not come within timeoutMs', async () => {
      const released = Promise.withResolvers<void>();
      const endpoint = receiver.endpoint({ status: 200, after: released.promise });
      const { delivery } = await deliver(endpoint.url, 'failed', { destination: { timeoutMs: 300 } });
      released.resolve();
      expect(delivery).to.include({ statusCode: null, error: 'Timed out after 300 ms' });
    });

    const forbidden = [
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]:8080/',
      'http://127.0.0.2/',
      'http://10.0.0.1/',
      'http://2130706434/',
      'http://[fd00:ec2::254]/',
    ];
    for (const url of forbidden) {
      it(`without a request and without a retry for ${url}`, async () => {
        const { delivery } = await deliver(url, 'failed', { destination: { retryPolicy: onceMore(5) } });
        expect(delivery).to.include({ attemptCount: 1, statusCode: null });
        expect(delivery.error).to.match(/HOOKYARD_DELIVERY_ALLOW|not allowed|refused|private|forbidden/i);
      });
    }
  });

  describe('with an expected response', () => {
    const expecting = (expectedResponse: object) => ({ route: { expectedResponse } });

    it('succeeds on a listed status, 2xx or not', async () => {
      const endpoint = receiver.endpoint(409);
      const { delivery } = await deliver(endpoint.url, 'delivered', expecting({ statusCodes: [200, 409] }));
      expect(delivery.statusCode).to.equal(409);
    });

    it('fails on any other status', async () => {
      const endpoint = receiver.endpoint(204);
      const { delivery } = await deliver(endpoint.url, 'failed', expecting({ statusCodes: [200] }));
      expect(delivery.error).to.equal('The destination answered 204, expected 200');
    });

    it('succeeds when the body contains the text, and fails when it does not', async () => {
      const endpoint = receiver.endpoint({ body: '{"result":"stored"}' });
      await deliver(endpoint.url, 'delivered', expecting({ bodyContains: '"stored"' }));
      const { delivery } = await deliver(endpoint.url, 'failed', expecting({ bodyContains: '"queued"' }));
      expect(delivery.error).to.include('lacks the expected text');
    });
  });

  describe('records', () => {
    it('at most 16 KiB of the answer, with its headers and status', async () => {
      const endpoint = receiver.endpoint({
        status: 500,
        headers: { 'x-node': 'n7' },
        body: 'x'.repeat(100 * KIBIBYTE),
      });
      const { delivery } = await deliver(endpoint.url, 'failed');
      expect(delivery.attempts[0]?.responseBody).to.equal('x'.repeat(16 * KIBIBYTE));
      expect(delivery.attempts[0]?.responseHeaders).to.include({ 'x-node': 'n7' });
      expect(delivery.attempts[0]).to.include({ statusCode: 500, status: 'failed' });
    });

    it('an answer that is no text', async () => {
      const endpoint = receiver.endpoint({ body: Buffer.from([0, 255, 0, 65]) });
      const { delivery } = await deliver(endpoint.url, 'delivered');
      expect(delivery.attempts[0]?.responseBody).to.be.a('string').that.includes('A');
    });
  });

  // A suite of its own: mocha runs it after all of the above.
  describe('of any kind', () => {
    it('leaves no payload and no secret in the logs', () => {
      expect(leakedLines(yard)).to.deep.equal([]);
      expect(yard.logs()).to.include('"deliveryId"');
    });

    it('leaves no payload and no secret in the histories of its workflow', async () => {
      const { searched, leaking } = await until('the histories to be listed', async () => {
        const found = await searchHistories(yard);
        return found.searched > 20 && found;
      });
      expect(searched).to.be.above(20);
      expect(leaking).to.deep.equal([]);
      const { searched: all, leaking: named } = await searchHistories(yard, yard.organizationId);
      expect(named, 'ids are in all histories, so a marker would be found').to.have.length(all);
    });
  });
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
