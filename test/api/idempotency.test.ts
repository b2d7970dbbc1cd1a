// Idempotency-Key on POST requests of the management API (docs/guide/api.md).
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { forgetIdempotentRequests } from '../../db/organizations/idempotent-requests.ts';
import { type Answer, createClient, expectError, type Json } from '../support/api-client.ts';
import { clientWith } from '../support/api-records.ts';
import { managementEndpoints, pathOf } from '../support/requests/endpoints.ts';
import { startService, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useReceiver } from '../support/use-hookyard.ts';

const newKey = () => randomUUID();

describe('Idempotency-Key', () => {
  const organization = useOrganization();
  const receiver = useReceiver();

  const send = (key: string, path: string, body?: unknown, api = organization.api): Promise<Answer> =>
    api.request('POST', path, body, { headers: { 'Idempotency-Key': key } });
  /** Without a look at the description, which has no such spellings. */
  async function sendAsSpelt(key: string, path: string, body: unknown) {
    const headers = {
      ...{ Authorization: `Bearer ${organization.token}`, 'Content-Type': 'application/json' },
      'Idempotency-Key': key,
    };
    const answer = await fetch(organization.api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { status } = answer;
    return { status, isRepeat: answer.headers.get('idempotent-replayed') === 'true', body: await answer.json() };
  }
  const conditions = [{ field: 'method', operator: 'exists' }];
  const isRepeat = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true';
  const destination = (name: string) => ({ name, url: 'https://receiver.example/hooks' });
  const countOf = async (search: string) =>
    (await organization.api.list(`/api/destinations?search=${search}`)).pagination.total;
  /** A destination that is tested holds its test until `release` is called. */
  async function heldTest() {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ after: promise, body: 'thanks' });
    const { id } = await organization.api.create('/api/destinations', { name: 'Slow', url: endpoint.url });
    return { path: `/api/destinations/${id}/test`, release, requests: endpoint.requests };
  }
  const passLease = () =>
    testPool().query(
      `update idempotent_requests set leased_until = now() - interval '1 second' where organization_id = $1`,
      [organization.id],
    );

  it('answers a repeat like the first request, and does nothing', async () => {
    const key = newKey();
    const first = await send(key, '/api/destinations', destination('Repeated'));
    const second = await send(key, '/api/destinations', destination('Repeated'));
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers.get('content-type')).to.equal(first.headers.get('content-type'));
    expect([isRepeat(first), isRepeat(second)]).to.deep.equal([false, true]);
    expect(await countOf('Repeated')).to.equal(1);
  });

  it('refuses a key with another body, and keeps the first answer', async () => {
    const key = newKey();
    const first = await send(key, '/api/destinations', destination('First body'));
    for (const body of [destination('Other body'), undefined])
      expectError(await send(key, '/api/destinations', body), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect((await send(key, '/api/destinations', destination('First body'))).body.id).to.equal(first.body.id);
  });

  it('belongs to the operation and its parameters, not to the spelling of the path', async () => {
    const sourceNamed = (slug: string) =>
      organization.api.create('/api/sources', { name: slug, slug, ingestToken: 'required' });
    const { id } = await sourceNamed('spelt');
    const own = `/api/organizations/${organization.id}`;
    const spellings = {
      sources: ['/api/sources', `${own}/sources`, '/API/Sources', '/api/sources/', '/api/sources?b=1&a=2'],
      rotations: [
        `/api/sources/${id}/rotate-token`,
        `${own}/sources/${id}/rotate-token`,
        `/api/sources/${id.replace('_', '%5F')}/rotate-token`,
        `/api/sources/${id}/Rotate-Token/`,
      ],
      destinations: ['/api/destinations', `${own}/destinations`, `${own}/destinations/?x=1`, '/api/Destinations'],
    };
    const bodies: Record<string, unknown> = {
      sources: { name: 'Once', slug: 'once' },
      rotations: {},
      destinations: destination('Once'),
    };
    for (const [name, paths] of Object.entries(spellings)) {
      const key = newKey();
      const answers: { path: string; status: number; isRepeat: boolean; body: unknown }[] = [];
      for (const path of paths) answers.push({ path, ...(await sendAsSpelt(key, path, bodies[name])) });
      const [first, ...repeats] = answers;
      expect(first, name).to.deep.include({ isRepeat: false });
      for (const repeat of repeats) expect(repeat).to.deep.equal({ ...first, path: repeat.path, isRepeat: true });
    }
    const other = await sourceNamed('spelt-other');
    const key = newKey();
    const apart = [
      await send(key, `/api/sources/${id}/rotate-token`, {}),
      await send(key, `${own}/sources/${other.id}/rotate-token`, {}),
      await send(key, '/api/filters', { name: 'Apart', conditions }),
    ];
    expect(apart.map(isRepeat), 'other parameters, another operation').to.deep.equal([false, false, false]);
  });

  it('keeps refusals too, whatever has changed meanwhile', async () => {
    const key = newKey();
    const source = { name: 'Taken', slug: 'taken' };
    const { id } = await organization.api.create(`${organization.base}/sources`, source);
    const first = await send(key, `${organization.base}/sources`, source);
    expectError(first, 409, 'DUPLICATE_SLUG');
    await organization.api.delete(`${organization.base}/sources/${id}`);
    const second = await send(key, `${organization.base}/sources`, source);
    expectError(second, 409, 'DUPLICATE_SLUG');
    expect(second.body).to.deep.equal(first.body);
  });

  it('does not keep what is wrong with the request itself: its content type, its JSON', async () => {
    const key = newKey();
    const raw = JSON.stringify(destination('Corrected'));
    const sendRaw = (type: string, text: string) =>
      organization.api.request('POST', '/api/destinations', undefined, {
        raw: text,
        headers: { 'Idempotency-Key': key, 'Content-Type': type },
      });
    expectError(await sendRaw('text/plain', raw), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expect((await sendRaw('application/json', raw)).status).to.equal(201);
  });

  it('answers 409 with Retry-After while the first request runs, and its answer afterwards', async () => {
    const key = newKey();
    const { path, release, requests } = await heldTest();
    const first = send(key, path);
    await until('the test to arrive', () => requests.length === 1);
    const meanwhile = await send(key, path);
    expectError(meanwhile, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(Number(meanwhile.headers.get('retry-after'))).to.be.at.least(1);
    expectError(await send(key, path, { payload: {} }), 422, 'IDEMPOTENCY_KEY_REUSED');
    release();
    expect((await first).body).to.include({ success: true, responseBody: 'thanks' });
    expect((await send(key, path)).body).to.deep.equal((await first).body);
    expect(requests).to.have.length(1);
  });

  it('does one of many at the same moment', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(key, '/api/destinations', destination('At once'))),
    );
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(ids).to.not.be.empty;
    expect(new Set(ids).size).to.equal(1);
    for (const answer of answers) if (answer.status !== 201) expectError(answer, 409, 'IDEMPOTENCY_KEY_IN_USE');
    expect(await countOf('At%20once')).to.equal(1);
  });

  it('shows a new API key again, and stores its token encrypted', async () => {
    const key = newKey();
    const first = await send(key, '/api/api-keys', { name: 'Once' });
    const second = await send(key, '/api/api-keys', { name: 'Once' });
    expect(second.body).to.deep.equal(first.body);
    const token = String(first.body.token);
    expect((await createClient(organization.api.url, token).get('/api/auth/me')).key).to.include({ name: 'Once' });
    const { rows } = await testPool().query<{ answer: string }>(
      'select answer from idempotent_requests where organization_id = $1 and answer is not null',
      [organization.id],
    );
    const stored = rows.map(({ answer }) => `${answer} ${Buffer.from(answer.split('.')[2] ?? '', 'base64url')}`);
    expect(stored).to.not.be.empty;
    expect(stored.join()).to.not.include(token).and.not.include('"status"');
  });

  it('shows no answer to an API key with fewer scopes than the first one', async () => {
    const key = newKey();
    const body = { name: 'Full' };
    await send(key, '/api/api-keys', body);
    const refused = await send(key, '/api/api-keys', body, await clientWith(organization, 'write'));
    expectError(refused, 403, 'FORBIDDEN', /"read"/);
    expect(JSON.stringify(refused.body)).to.not.include('whr_');
  });

  for (const key of ['', 'with space', 'x'.repeat(256)]) {
    it(`refuses a key of ${key.length} characters: ${JSON.stringify(key.slice(0, 12))}`, async () => {
      expectError(await send(key, '/api/destinations', destination('Bad key')), 400, 'VALIDATION_ERROR');
      expect(await countOf('Bad%20key')).to.equal(0);
    });
  }

  it('takes a key of 255 characters', async () => {
    expect((await send('x'.repeat(255), '/api/destinations', destination('Long key'))).status).to.equal(201);
  });

  it('is ignored on other methods', async () => {
    const headers = { 'Idempotency-Key': 'not a valid key' };
    expect((await organization.api.request('GET', '/api/destinations', undefined, { headers })).status).to.equal(200);
  });

  for (const endpoint of managementEndpoints().filter(({ method }) => method === 'POST')) {
    it(`is taken by POST ${endpoint.path}`, async () => {
      const key = newKey();
      const path = pathOf(endpoint, { orgId: organization.id });
      const first = await send(key, path, { name: 5 });
      const second = await send(key, path, { name: 5 });
      expect(second.status).to.equal(first.status);
      expect(second.body).to.deep.equal(first.body);
      expect([isRepeat(first), isRepeat(second)]).to.deep.equal([false, true]);
    });
  }

  it('does not keep a failure of the service: the repeat is carried out', async () => {
    const key = newKey();
    // PostgreSQL refuses this one record as it does when its disk is full (53100): a real failure, of one organization.
    await testPool().query(`
      create function refuse_idempotency_test() returns trigger language plpgsql as
        $$ begin raise exception 'disk full' using errcode = '53100'; end $$;
      create trigger refuse_idempotency_test before insert on filters for each row
        when (new.organization_id = '${organization.id}' and new.name = 'Failing') execute function refuse_idempotency_test()`);
    try {
      const failed = await send(key, '/api/filters', { name: 'Failing', conditions });
      expectError(failed, 503, 'UNAVAILABLE');
      expect(Number(failed.headers.get('retry-after'))).to.be.at.least(1);
    } finally {
      await testPool().query(
        'drop trigger refuse_idempotency_test on filters; drop function refuse_idempotency_test()',
      );
    }
    const repeated = await send(key, '/api/filters', { name: 'Failing', conditions });
    expect(repeated.status).to.equal(201);
    expect(isRepeat(repeated)).to.equal(false);
  });

  it('is forgotten after 24 hours, and removed by housekeeping', async () => {
    const key = newKey();
    const first = await send(key, '/api/destinations', destination('Old'));
    const { rows } = await testPool().query<{ hours: number }>(
      `select extract(epoch from max(expires_at) - now()) / 3600 as hours from idempotent_requests where organization_id = $1`,
      [organization.id],
    );
    expect(Number(rows[0]?.hours)).to.be.within(23.9, 24);
    const age = () =>
      testPool().query(
        `update idempotent_requests set expires_at = now() - interval '1 second' where organization_id = $1`,
        [organization.id],
      );
    await age();
    const second = await send(key, '/api/destinations', destination('Old'));
    expect(isRepeat(second)).to.equal(false);
    expect(second.body.id).to.not.equal(first.body.id);
    await age();
    expect(await forgetIdempotentRequests(testPool())).to.equal(false);
    const left = await testPool().query('select 1 from idempotent_requests where organization_id = $1', [
      organization.id,
    ]);
    expect(left.rowCount).to.equal(0);
  });

  it('holds across processes, and a request whose process died can be repeated when its lease has passed', async () => {
    const key = newKey();
    const service = await startService('api');
    const doomed = createClient(service.url, organization.token);
    try {
      const created = await send(key, '/api/destinations', destination('Two processes'), doomed);
      const repeated = await send(key, '/api/destinations', destination('Two processes'));
      expect(repeated.body).to.deep.equal(created.body as Json);
      expect(isRepeat(repeated)).to.equal(true);

      const { path, release, requests } = await heldTest();
      const lost = send(key, path, undefined, doomed).catch((error: unknown) => error);
      await until('the test to arrive', () => requests.length === 1);
      await service.kill();
      expect(await lost).to.be.instanceOf(Error);
      expectError(await send(key, path), 409, 'IDEMPOTENCY_KEY_IN_USE');
      await passLease();
      release();
      const second = await send(key, path);
      expect(second.body).to.include({ success: true });
      expect(isRepeat(second)).to.equal(false);
      expect(isRepeat(await send(key, path))).to.equal(true);
    } finally {
      await service.kill();
    }
  });
});
