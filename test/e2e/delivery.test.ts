import { expect } from 'chai';
import { onceMore, type Records } from '../support/records.ts';
import { PLANTED } from '../support/attacks/secrecy.ts';
import { useHookyard } from '../support/use-hookyard.ts';
const BODY = JSON.stringify({ note: `${PLANTED} payload` });

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
      const made = delivery.attempts.map(({ attemptNumber, status, statusCode }) => [
        attemptNumber,
        status,
        statusCode,
      ]);
      expect(made).to.deep.equal([
        [1, 'failed', 500],
        [2, 'failed', 429],
        [3, 'failed', 404],
        [4, 'success', 200],
      ]);
      const sent = (name: string) => endpoint.requests.map(({ headers }) => headers[`x-hookyard-${name}`]);
      expect(sent('attempt')).to.deep.equal(['1', '2', '3', '4']);
      expect(new Set(sent('delivery-id'))).to.deep.equal(new Set([delivery.id]));
      expect(new Set(sent('event-id'))).to.deep.equal(new Set([eventId]));
      expect(new Set(endpoint.requests.map((request) => request.body.toString()))).to.deep.equal(new Set([BODY]));
    });

    it('until the policy is exhausted, then fails', async () => {
      const endpoint = receiver.endpoint(500);
      const { delivery, eventId } = await deliver(endpoint.url, 'failed', {
        destination: { retryPolicy: onceMore(2) },
      });
      expect(endpoint.requests).to.have.length(3);
      expect(delivery).to.include({ attemptCount: 3, statusCode: 500, error: 'The destination returned 500' });
      expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesFailed: 1 });
    });

    const minute = 60_000;

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
    it('when the answer does not come within timeoutMs', async () => {
      const released = Promise.withResolvers<void>();
      const endpoint = receiver.endpoint({ status: 200, after: released.promise });
      const { delivery } = await deliver(endpoint.url, 'failed', { destination: { timeoutMs: 300 } });
      released.resolve();
      expect(delivery).to.include({ statusCode: null, error: 'Timed out after 300 ms' });
    });
  });

  describe('with an expected response', () => {
    const expecting = (expectedResponse: object) => ({ route: { expectedResponse } });

    it('succeeds on a listed status, 2xx or not', async () => {
      const endpoint = receiver.endpoint(409);
      const { delivery } = await deliver(endpoint.url, 'delivered', expecting({ statusCodes: [200, 409] }));
      expect(delivery.statusCode).to.equal(409);
    });

    it('succeeds when the body contains the text, and fails when it does not', async () => {
      const endpoint = receiver.endpoint({ body: '{"result":"stored"}' });
      await deliver(endpoint.url, 'delivered', expecting({ bodyContains: '"stored"' }));
      const { delivery } = await deliver(endpoint.url, 'failed', expecting({ bodyContains: '"queued"' }));
      expect(delivery.error).to.include('does not contain the expected text');
    });
  });
});
