// One event to one destination: what becomes of the delivery with every kind of answer.
import { expect } from 'chai';
import { type AddressInfo, createServer } from 'node:net';
import { onceMore, type Records } from '../support/records.ts';
import { describeNoTraces, PLANTED } from '../support/attacks/secrecy.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const KIBIBYTE = 1024;
const BODY = JSON.stringify({ note: `${PLANTED} payload` });

/** As in RFC 850: `Sunday, 06-Nov-94 08:49:37 GMT`. */
function rfc850(date: Date): string {
  const [, day = '', month = '', year = '', time = ''] =
    /, (\d\d) (\w+) \d\d(\d\d) (\S+) GMT$/.exec(date.toUTCString()) ?? [];
  return `${date.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' })}, ${day}-${month}-${year} ${time} GMT`;
}

describe('a delivery', () => {
  const { testInstance, records, receiver } = useHookyard();

  const deliver = (url: string, ending: string, fields?: Parameters<Records['pipe']>[1]) =>
    records.deliver(url, BODY, ending, fields);

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
      ['a fraction of seconds', () => '119.5'],
      ['a date with the day in full', () => rfc850(new Date(Date.now() + 2 * minute))],
    ];
    for (const [what, value] of waits) {
      it(`not before the Retry-After of a 503 in ${what}`, async () => {
        const endpoint = receiver.endpoint({ status: 503, headers: { 'retry-after': value() } }, 200);
        const { delivery } = await deliver(endpoint.url, 'retrying', { destination: { retryPolicy: onceMore(1) } });
        const wait = Date.parse(delivery.nextAttemptAt ?? '') - Date.now();
        expect(wait).to.be.within(minute, 2 * minute);
        await testInstance.client.post(`/api/deliveries/${delivery.id}/cancel`);
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
      await testInstance.client.post(`/api/deliveries/${planned.delivery.id}/cancel`);
      await testInstance.client.post(`/api/deliveries/${capped.delivery.id}/cancel`);
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

  describeNoTraces(() => testInstance);
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
