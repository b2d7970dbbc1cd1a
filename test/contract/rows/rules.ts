// interface.md: "Authentication", "Events" (notifications), "Errors".
import { expect } from 'chai';
import { createClient, expectError, type Json } from '../../support/api-client.ts';
import { firstMail } from '../../support/notified-routes.ts';
import { until } from '../../support/until.ts';
import { BODY, rowsOf } from '../world.ts';
import { listsOf } from './overview.ts';

export const ruleRows = [
  ...rowsOf('Authentication', {
    'Every management request carries the header': async (w) => {
      const anonymous = createClient(w.api.url, null);
      for (const path of listsOf(w)) {
        expect((await anonymous.request('GET', path)).status, path).to.equal(401);
        expect((await w.api.request('GET', path)).status, path).to.equal(200);
      }
    },
    'Outbound authentication to an HTTP destination': async (w) => {
      const { endpoint } = await w.deliver(200, 'delivered', {
        destination: { authType: 'basic', authConfig: { username: 'u', password: 'p' } },
      });
      expect(endpoint.requests[0]?.headers.authorization).to.equal(`Basic ${btoa('u:p')}`);
    },
    'Inbound signature verification is set per source': async (w) => {
      const guarded = await w.records.source({ verificationConfig: { type: 'github', secret: 'a-secret' } });
      const open = await w.records.source();
      const statuses = [await w.records.post(guarded, BODY), await w.records.post(open, BODY)].map(
        ({ status }) => status,
      );
      expect(statuses).to.deep.equal([401, 200]);
    },
  }),
  ...rowsOf('Events', {
    'Received webhooks are the event resource': async (w) => {
      const { eventId, source } = await w.delivered();
      const { data } = await w.api.list(`${w.base}/events?sourceId=${source.id}`);
      expect(data.map(({ id }) => id)).to.deep.equal([eventId]);
    },
    'Outbound notifications: a route sends a notification': async (w) => {
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
    'Circuit opening activates the route': async (w) => {
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
  }),
  ...rowsOf('Errors', {
    'Error body: `{ error': async (w) => {
      const coded = await w.api.request('GET', '/api/destinations/x');
      expect(coded.body).to.include({ error: 'Not Found', code: 'RESOURCE_NOT_FOUND' });
      expect(coded.body.message).to.be.a('string');
      const { api } = await w.organization('free');
      const bare = await api.request('POST', '/api/destinations', { name: 'W', type: 's3', config: {} });
      expect(bare.body).to.have.all.keys('error', 'message');
    },
    '| 400 | Bad Request | INVALID_URL |': async (w) => {
      const answer = await w.api.request('POST', '/api/destinations', { name: 'CRM', url: 'not a url' });
      expectError(answer, 400, 'INVALID_URL');
      expect(answer.body.error).to.equal('Bad Request');
      expectError(await w.api.request('POST', `${w.base}/destinations`, { name: 'CRM', url: 'x' }), 400, 'INVALID_URL');
    },
    '| 400 | Bad Request | INVALID_SOURCE |': async (w) => {
      const { id } = await w.destination();
      const answer = await w.api.request('POST', '/api/routes', { name: 'R', sourceId: 'src_x', destinationIds: [id] });
      expectError(answer, 400, 'INVALID_SOURCE');
      const other = await w.organization();
      const foreign = await other.api.create(`${other.base}/sources`, { name: 'S', slug: 's' });
      const body = { name: 'R', sourceId: foreign.id, destinationIds: [id] };
      expectError(await w.api.request('POST', '/api/routes', body), 400, 'INVALID_SOURCE');
    },
    '| 400 | Bad Request | INVALID_SLUG |': async (w) => {
      expectError(
        await w.api.request('POST', `${w.base}/sources`, { name: 'S', slug: 'No Slug' }),
        400,
        'INVALID_SLUG',
      );
    },
    '| 404 | Not Found | RESOURCE_NOT_FOUND |': async (w) => {
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
    '| 409 | Conflict | DUPLICATE_ROUTE |': async (w) => {
      const { sourceId, destinationIds } = await w.route();
      const answer = await w.api.request('POST', '/api/routes', { name: 'R', sourceId, destinationIds });
      expectError(answer, 409, 'DUPLICATE_ROUTE');
      expect(answer.body.error).to.equal('Conflict');
    },
    '| 409 | Conflict | DUPLICATE_SLUG |': async (w) => {
      const { slug } = await w.source();
      const answer = await w.api.request('POST', `${w.base}/sources`, { name: 'S', slug });
      expectError(answer, 409, 'DUPLICATE_SLUG');
      expect(answer.body.error).to.equal('Conflict');
    },
    'A failed destination test is reported in the test result body': async (w) => {
      // Port 9 (discard) of loopback: nothing listens.
      const { id } = await w.destination({ url: 'http://127.0.0.1:9/' });
      const answer = await w.api.request('POST', `/api/destinations/${id}/test`);
      expect(answer.status).to.equal(200);
      expect(answer.body.success).to.equal(false);
      expect(answer.body.error).to.be.a('string');
    },
    'Import problems are reported in the import result': async (w) => {
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
  }),
];
