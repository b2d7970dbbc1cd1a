// What every SDK must do: a webhook from source to receiver, lists of more than a page, repeats, errors, and the
// verification of what Hookyard sends. Each has a program that does it (test/support/programs/sdk/).
import { expect } from 'chai';
import type { Answer, Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { Driver } from '../support/programs/sdks.ts';
import { createOrganization, sharedService } from '../support/service.ts';
import { VERIFICATION_CASES } from '../support/providers/standard-webhooks.ts';
import { until } from '../support/until.ts';

const SECRET = `whsec_${Buffer.from('a secret of this very test').toString('base64')}`;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const fine: Answer = { headers: JSON_TYPE, body: '{"status":"ok"}' };
const refusing = (status: number, retryAfter: string): Answer => ({
  status,
  headers: { ...JSON_TYPE, 'Retry-After': retryAfter, 'X-Request-Id': 'req_1' },
  body: '{"error":"Service Unavailable","message":"PostgreSQL is away","code":"UNAVAILABLE"}',
});

/** @param prepare installs or compiles the SDK; it may take as long as `setUpMs` */
export function describeSdk(prepare: (context: Mocha.Context) => Promise<Driver>, setUpMs: number): void {
  let receiver: Receiver;
  let drive: Driver;
  before(async function () {
    this.timeout(setUpMs);
    drive = await prepare(this);
    receiver = await startReceiver();
    await sharedService('worker');
  });
  after(() => receiver?.close());

  it('takes a webhook to its receiver and replays it; what arrives can be verified', async function () {
    this.timeout(90_000);
    const { api, token } = await createOrganization();
    const endpoint = receiver.endpoint();
    const input = { url: api.url, api_key: token, receiver: endpoint.url, secret: SECRET };
    expect(await drive('story', input)).to.deep.equal({
      events: 1,
      replayed: 1,
      deliveries: 2,
      payload: { by: 'sdk' },
      unknown: 'RESOURCE_NOT_FOUND',
      etags: 1,
      changed: 'PRECONDITION_FAILED',
    });
    const sent = await until('the webhook arrives', () => endpoint.requests[0]);
    const now = Date.now() / 1000;
    const genuine = { body: String(sent.body), headers: sent.headers, secrets: [SECRET], now: Math.round(now) };
    const changed = { ...genuine, body: `${genuine.body} ` };
    expect(await drive('verify', { cases: [genuine, changed] })).to.deep.equal([true, false]);
  });

  it('goes through all parts of a list, by cursor and by page', async () => {
    const organization = await createOrganization();
    const { api, token, base } = organization;
    for (let n = 1; n <= 7; n++)
      await api.create('/api/filters', { name: `F${n}`, conditions: [{ field: 'payload.n', operator: 'exists' }] });
    const source = await api.create<{ webhookUrl: string }>(`${base}/sources`, { name: 'Lists', slug: 'lists' });
    const sent: string[] = [];
    for (let n = 0; n < 5; n++) {
      const answer = await fetch(source.webhookUrl, { method: 'POST', body: '{}' });
      sent.unshift(((await answer.json()) as { eventId: string }).eventId);
    }
    const { pagination } = await api.list('/api/providers');
    expect(await drive('lists', { url: api.url, api_key: token })).to.deep.equal({
      filters: ['F7', 'F6', 'F5', 'F4', 'F3', 'F2', 'F1'],
      providers: pagination.total,
      events: sent,
    });
  });

  for (const status of [429, 503]) {
    it(`repeats after a ${status}, as long as Retry-After says`, async () => {
      const patient = receiver.endpoint(refusing(status, '1'), fine);
      expect(await drive('alive', { url: patient.url, max_wait: 1 })).to.deep.equal({ answer: { status: 'ok' } });
      expect(patient.requests.map(({ target }) => target.replace(/^\/[^/]*/, ''))).to.deep.equal([
        '/healthz',
        '/healthz',
      ]);
      const hasty = receiver.endpoint(refusing(status, '1'), fine);
      const refused = await drive('alive', { url: hasty.url, max_wait: 0.9 });
      expect(refused).to.deep.include({ status, code: 'UNAVAILABLE', retry_after: 1, request_id: 'req_1' });
      expect(hasty.requests).to.have.lengthOf(1);
    });
  }

  it('gives up after so many repeats, and sends a POST with the same Idempotency-Key each time', async () => {
    const endpoint = receiver.endpoint(refusing(503, '0'));
    const refused = (await drive('create', { url: endpoint.url, api_key: 'whr_test', max_retries: 2 })) as object;
    const keys = endpoint.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).to.have.lengthOf(3);
    expect(new Set(keys).size).to.equal(1);
    expect(refused).to.deep.include({ message: 'PostgreSQL is away', idempotency_key: keys[0] });
    expect(endpoint.requests[0]?.headers).to.include({
      authorization: 'Bearer whr_test',
      'content-type': 'application/json',
    });
  });

  it('tells what is wrong with a request, and where nobody or somebody else answers', async () => {
    const details = [{ path: 'name', message: 'must be given' }];
    const body = JSON.stringify({
      error: 'Bad Request',
      message: 'name must be given',
      code: 'VALIDATION_ERROR',
      details,
    });
    const wrong = receiver.endpoint({ status: 400, headers: JSON_TYPE, body });
    expect(await drive('create', { url: wrong.url })).to.deep.include({
      status: 400,
      code: 'VALIDATION_ERROR',
      details: [['name', 'must be given']],
    });
    expect(wrong.requests).to.have.lengthOf(1);
    const html = receiver.endpoint({ headers: { 'Content-Type': 'text/html' }, body: '<h1>Welcome</h1>' });
    expect(await drive('alive', { url: html.url })).to.include({ code: 'NOT_HOOKYARD', status: 200 });
    const elsewhere = receiver.endpoint({ status: 301, headers: { Location: `${html.url}/healthz` } });
    expect(await drive('alive', { url: elsewhere.url })).to.include({ code: 'NOT_HOOKYARD', status: 301 });
    const nobody = { url: 'http://127.0.0.1:1', max_wait: 0 };
    expect(await drive('delete', nobody)).to.include({ code: 'UNREACHABLE', status: null });
    const slow = receiver.endpoint({ ...fine, after: new Promise((resolve) => setTimeout(resolve, 5000).unref()) });
    expect(await drive('alive', { url: slow.url, timeout: 0.2 })).to.include({ code: 'TIMEOUT', status: null });
    expect(slow.requests).to.have.lengthOf(1);
  });

  it('verifies as Standard Webhooks says', async () => {
    const taken = (await drive('verify', { cases: VERIFICATION_CASES })) as boolean[];
    const wrong = VERIFICATION_CASES.filter(({ isGood }, index) => taken[index] !== isGood).map(({ what }) => what);
    expect(wrong).to.deep.equal([]);
    expect(taken).to.have.lengthOf(VERIFICATION_CASES.length);
  });
}
