// AUTH, ERR, NOTE.
import { expect } from 'chai';
import { createClient, expectError, type Json } from '../../support/api-client.ts';
import { firstMail } from '../../support/notified-routes.ts';
import { until } from '../../support/until.ts';
import { BODY, rowsOf } from '../world.ts';
import { listsOf } from './overview.ts';

export const ruleRows = rowsOf({
  'AUTH-01 AUTH-02 every list wants a key': async (w) => {
    const anonymous = createClient(w.api.url, null);
    for (const path of listsOf(w)) {
      expect((await anonymous.request('GET', path)).status, path).to.equal(401);
      expect((await w.api.request('GET', path)).status, path).to.equal(200);
    }
  },
  'DEST-24 credentials go out with a delivery': async (w) => {
    const { endpoint } = await w.deliver(200, 'delivered', {
      destination: { authType: 'basic', authConfig: { username: 'u', password: 'p' } },
    });
    expect(endpoint.requests[0]?.headers.authorization).to.equal(`Basic ${btoa('u:p')}`);
  },
  'SRC-06 INGEST-07 signatures are set for each source': async (w) => {
    const guarded = await w.records.source({ verificationConfig: { type: 'github', secret: 'a-secret-of-github' } });
    const open = await w.records.source();
    const statuses = [await w.records.post(guarded, BODY), await w.records.post(open, BODY)].map(
      ({ status }) => status,
    );
    expect(statuses).to.deep.equal([401, 200]);
  },
  'EVT-16 received webhooks are events': async (w) => {
    const { eventId, source } = await w.delivered();
    const { data } = await w.api.list(`${w.base}/events?sourceId=${source.id}`);
    expect(data.map(({ id }) => id)).to.deep.equal([eventId]);
  },
  'NOTE-01 a route tells of failure, recovery and success': async (w) => {
    const notified = await w.notified();
    const flags = { notifyOnFailure: true, notifyOnSuccess: true, notifyOnRecovery: true };
    const endpoint = notified.receiver.endpoint(500, 200);
    const { route, deliver, mails } = await notified.telling(endpoint, flags);
    await deliver('failed');
    expect((await firstMail(mails)).headers.subject).to.include('failed');
    await deliver('delivered');
    await until('the mail about the recovery', () =>
      mails().some(({ headers }) => /delivering again/.test(String(headers.subject))),
    );
    await notified.letTimePass(route.id, 'success');
    await until('the mail about the success', () => mails().length === 3);
  },
  'ROUTE-50 ROUTE-52 fails over after its attempts, and at once while the circuit is open': async (w) => {
    const good = w.receiver.endpoint(200);
    const failover = await w.records.destination(good.url);
    const { source, endpoint } = await w.pipe(500, {
      destination: { retryPolicy: { maxRetries: 9, initialDelay: 10, maxDelay: 10 } },
      route: {
        failoverDestinationIds: [failover.id],
        failoverAfterAttempts: 2,
        circuitFailureThreshold: 2,
        circuitCooldownSeconds: 3600,
      },
    });
    await w.records.eventWith('delivered', await w.records.accepted(source, BODY));
    expect([endpoint.requests.length, good.requests.length], 'after two failed attempts').to.deep.equal([2, 1]);
    await w.records.eventWith('delivered', await w.records.accepted(source, BODY));
    expect([endpoint.requests.length, good.requests.length], 'at once while open').to.deep.equal([2, 2]);
  },
  'ERR-01 the body of an error': async (w) => {
    const coded = await w.api.request('GET', '/api/destinations/x');
    expect(coded.body).to.include({ error: 'Not Found', code: 'RESOURCE_NOT_FOUND' });
    expect(coded.body.message).to.be.a('string');
    const { api } = await w.organization('free');
    const bare = await api.request('POST', '/api/destinations', { name: 'W', type: 's3', config: {} });
    expect(bare.body).to.have.all.keys('error', 'message');
  },
  'ERR-10 INVALID_URL in both families': async (w) => {
    const answer = await w.api.request('POST', '/api/destinations', { name: 'CRM', url: 'not a url' });
    expectError(answer, 400, 'INVALID_URL');
    expect(answer.body.error).to.equal('Bad Request');
    expectError(await w.api.request('POST', `${w.base}/destinations`, { name: 'CRM', url: 'x' }), 400, 'INVALID_URL');
  },
  'ERR-12 INVALID_SOURCE, also of another organization': async (w) => {
    const { id } = await w.destination();
    const answer = await w.api.request('POST', '/api/routes', { name: 'R', sourceId: 'src_x', destinationIds: [id] });
    expectError(answer, 400, 'INVALID_SOURCE');
    const other = await w.organization();
    const foreign = await other.api.create(`${other.base}/sources`, { name: 'S', slug: 's' });
    const body = { name: 'R', sourceId: foreign.id, destinationIds: [id] };
    expectError(await w.api.request('POST', '/api/routes', body), 400, 'INVALID_SOURCE');
  },
  'ERR-11 INVALID_SLUG': async (w) => {
    expectError(await w.api.request('POST', `${w.base}/sources`, { name: 'S', slug: 'No Slug' }), 400, 'INVALID_SLUG');
  },
  'ERR-23 RESOURCE_NOT_FOUND': async (w) => {
    const id = '0'.repeat(26);
    for (const path of [
      ...[
        `/api/destinations/dst_${id}`,
        `/api/routes/rte_${id}`,
        `${w.base}/events/evt_${id}`,
        `${w.base}/sources/src_${id}`,
      ],
      ...[`${w.base}/destinations/dst_${id}`, `${w.base}/events/evt_${id}/timeline`],
    ]) {
      const answer = await w.api.request('GET', path);
      expectError(answer, 404, 'RESOURCE_NOT_FOUND');
      expect(answer.body.error).to.equal('Not Found');
    }
  },
  'ERR-25 DUPLICATE_ROUTE': async (w) => {
    const { sourceId, destinationIds } = await w.route();
    const answer = await w.api.request('POST', '/api/routes', { name: 'R', sourceId, destinationIds });
    expectError(answer, 409, 'DUPLICATE_ROUTE');
    expect(answer.body.error).to.equal('Conflict');
  },
  'ERR-24 DUPLICATE_SLUG': async (w) => {
    const { slug } = await w.source();
    const answer = await w.api.request('POST', `${w.base}/sources`, { name: 'S', slug });
    expectError(answer, 409, 'DUPLICATE_SLUG');
    expect(answer.body.error).to.equal('Conflict');
  },
  'ERR-06 a test that fails is no error': async (w) => {
    // Port 9 (discard) of loopback: nothing listens.
    const { id } = await w.destination({ url: 'http://127.0.0.1:9/' });
    const answer = await w.api.request('POST', `/api/destinations/${id}/test`);
    expect(answer.status).to.equal(200);
    expect(answer.body.success).to.equal(false);
    expect(answer.body.error).to.be.a('string');
  },
  'ERR-07 an import that fails is no error': async (w) => {
    const bad = {
      conflictStrategy: 'skip',
      destinations: [{ name: 'Bad', url: 'nowhere' }],
      routes: [{ name: 'Bad', sourceSlug: 'none' }],
    };
    const destinations = await w.api.post<Json>('/api/destinations/import', bad);
    expect(destinations).to.have.nested.property('details.failed').that.deep.equals(['Bad']);
    const routes = await w.api.post<Json>('/api/routes/import', bad);
    expect(routes.errors).to.be.an('array').that.is.not.empty;
    expect(routes.warnings).to.be.an('array');
  },
});
