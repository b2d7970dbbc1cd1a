// SRC.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { expectError, type Json } from '../../support/api-client.ts';
import type { SourceView } from '../../support/records.ts';
import { BODY, expectRequired, expectTimestamps, rowsOf, type World } from '../world.ts';

const pathOf = (w: World) => `${w.base}/sources`;
const created = (w: World) => w.once('source', () => w.source());
let slugs = 0;
const bodyOf = (fields: Json = {}) => {
  slugs += 1;
  return { name: 'Orders', slug: `contract-${process.pid}-${slugs}`, ...fields };
};

/** A source takes what is signed with its secret, refuses what is not, and never shows the secret. */
async function verified(
  w: World,
  verificationConfig: Json,
  sign: (body: string) => Record<string, string>,
): Promise<void> {
  const source = (await w.source({ verificationConfig })) as unknown as SourceView;
  expect((await w.records.post(source, BODY, sign(BODY))).status).to.equal(200);
  expect((await w.records.post(source, `${BODY} `, sign(BODY))).status).to.equal(401);
  expect((await w.records.post(source, BODY, {})).status).to.equal(401);
  expect(await w.records.storedEvents(source.id)).to.equal(1);
  const shown = await w.api.get(`${pathOf(w)}/${source.id}`);
  expect(JSON.stringify(shown)).to.not.include(String(verificationConfig.secret));
  const { secret: _left, ...without } = verificationConfig;
  expect((await w.api.request('POST', pathOf(w), bodyOf({ verificationConfig: without }))).status).to.equal(400);
}
const hmac = (secret: string, text: string, algorithm = 'sha256') => createHmac(algorithm, secret).update(text);
const seconds = () => Math.floor(Date.now() / 1000);
const SECRET = 'whsec_contract_secret';

export const sourceRows = rowsOf({
  'SRC-01 id': async (w) => expect((await created(w)).id).to.match(/^src_/),
  'SRC-02 name is required': (w) => expectRequired(w.api, pathOf(w), bodyOf(), 'name'),
  'SRC-03 slug is required, stays, and is in the address': async (w) => {
    await expectRequired(w.api, pathOf(w), bodyOf(), 'slug');
    const source = await w.api.create<Json>(pathOf(w), bodyOf({ slug: `a1-b2-${process.pid}` }));
    expect(source.webhookUrl).to.match(new RegExp(`/a1-b2-${process.pid}$`));
    expect((await w.api.request('PATCH', `${pathOf(w)}/${source.id}`, { slug: 'other' })).status).to.equal(400);
  },
  'SRC-04 description': async (w) => {
    expect((await created(w)).description).to.equal(null);
    expect((await w.source({ description: 'Shop' })).description).to.equal('Shop');
  },
  'SRC-05 webhookUrl is read-only': async (w) => {
    const source = await w.source({ webhookUrl: 'https://mine.example' });
    expect(source.webhookUrl).to.match(/^https?:\/\/[^/]+\/ingest\//);
    const changed = await w.api.patch<Json>(`${pathOf(w)}/${source.id}`, { webhookUrl: 'https://mine.example' });
    expect(changed.webhookUrl).to.equal(source.webhookUrl);
  },
  'SRC-06 verificationConfig is none by default': async (w) => {
    expect((await created(w)).verificationConfig).to.deep.equal({ type: 'none' });
    const wrong = bodyOf({ verificationConfig: { type: 'magic', secret: 'x' } });
    expect((await w.api.request('POST', pathOf(w), wrong)).status).to.equal(400);
  },
  'SRC-08 enabled': async (w) => {
    expect((await created(w)).enabled).to.equal(true);
    expect((await w.source({ enabled: false })).enabled).to.equal(false);
    expect((await w.api.request('POST', pathOf(w), bodyOf({ enabled: 'no' }))).status).to.equal(400);
  },
  'SRC-09 eventsCount': async (w) => {
    expect((await created(w)).eventsCount).to.equal(0);
    expect((await w.api.get(`${pathOf(w)}/${(await w.delivered()).source.id}`)).eventsCount).to.equal(1);
  },
  'SRC-10 lastEventAt': async (w) => {
    expect((await created(w)).lastEventAt).to.equal(null);
    expectTimestamps(await w.api.get(`${pathOf(w)}/${(await w.delivered()).source.id}`), 'lastEventAt');
  },
  'SRC-11 createdAt and updatedAt': async (w) => expectTimestamps(await created(w), 'createdAt', 'updatedAt'),
  'SRC-12 github': (w) =>
    verified(w, { type: 'github', secret: SECRET }, (body) => ({
      'X-Hub-Signature-256': `sha256=${hmac(SECRET, body).digest('hex')}`,
    })),
  'SRC-13 stripe': (w) =>
    verified(w, { type: 'stripe', secret: SECRET }, (body) => {
      const t = seconds();
      return { 'Stripe-Signature': `t=${t},v1=${hmac(SECRET, `${t}.${body}`).digest('hex')}` };
    }),
  'SRC-14 slack': (w) =>
    verified(w, { type: 'slack', secret: SECRET }, (body) => {
      const t = String(seconds());
      const signature = `v0=${hmac(SECRET, `v0:${t}:${body}`).digest('hex')}`;
      return { 'X-Slack-Signature': signature, 'X-Slack-Request-Timestamp': t };
    }),
  'SRC-15 hmac': (w) =>
    verified(
      w,
      { type: 'hmac', secret: SECRET, algorithm: 'sha256', header: 'X-Signed', encoding: 'hex', prefix: 'v1=' },
      (body) => ({ 'X-Signed': `v1=${hmac(SECRET, body).digest('hex')}` }),
    ),
  'SRC-16 none': async (w) => {
    const source = (await w.source({ verificationConfig: { type: 'none' } })) as unknown as SourceView;
    expect((await w.records.post(source, BODY, {})).status).to.equal(200);
    expect((await w.api.get(`${pathOf(w)}/${source.id}`)).verificationConfig).to.deep.equal({ type: 'none' });
  },
  'SRC-17 a secret is never shown': async (w) => {
    const source = await w.source({ verificationConfig: { type: 'github', secret: SECRET } });
    const answers = [
      source,
      await w.api.get(`${pathOf(w)}/${source.id}`),
      await w.api.patch<Json>(`${pathOf(w)}/${source.id}`, {
        verificationConfig: { type: 'stripe', secret: `${SECRET}2` },
      }),
      await w.api.list(pathOf(w)),
    ];
    expect(JSON.stringify(answers)).to.not.include(SECRET);
  },
  'SRC-20 GET list and its filters': async (w) => {
    const { api, base } = await w.organization();
    const path = `${base}/sources`;
    const a = await api.create(path, { name: 'Shop', slug: 'alpha' });
    const b = await api.create(path, { name: 'Bank', slug: 'beta', enabled: false });
    const ids = async (query: string) => (await api.list(`${path}${query}`)).data.map(({ id }) => id);
    expect(await ids('')).to.deep.equal([b.id, a.id]);
    expect(await ids('?page=2&pageSize=1')).to.deep.equal([a.id]);
    expect(await ids('?enabled=false')).to.deep.equal([b.id]);
    expect(await ids('?search=SHOP')).to.deep.equal([a.id]);
    expect(await ids('?search=bet')).to.deep.equal([b.id]);
    const [first] = (await api.list(path)).data;
    expect(first).to.include.all.keys('id', 'name', 'slug', 'webhookUrl', 'enabled', 'eventsCount');
  },
  'SRC-18 SRC-21 POST shows the type alone': async (w) => {
    const secretive = { type: 'hmac', secret: SECRET, algorithm: 'sha256', header: 'X-S', encoding: 'hex' };
    const body = bodyOf({ description: 'd', verificationConfig: secretive, enabled: false });
    const answer = await w.api.request('POST', pathOf(w), body);
    expect(answer.status).to.equal(201);
    expect(answer.body).to.deep.include({ name: body.name, slug: body.slug, description: 'd', enabled: false });
    expect(answer.body.verificationConfig).to.deep.equal({ type: 'hmac' });
  },
  'SRC-22 GET': async (w) => {
    expect(await w.api.get(`${pathOf(w)}/${(await created(w)).id}`)).to.include.all.keys(
      ...['id', 'name', 'slug', 'description', 'webhookUrl', 'verificationConfig', 'enabled', 'eventsCount'],
      ...['lastEventAt', 'createdAt', 'updatedAt'],
    );
  },
  'SRC-23 PATCH': async (w) => {
    const { id } = await w.source();
    for (const patch of [{ name: 'N' }, { description: 'x' }, { enabled: false }, {}]) {
      const answer = await w.api.patch(`${pathOf(w)}/${id}`, patch);
      expect(answer).to.include.all.keys('id', 'name', 'slug', 'enabled', 'updatedAt');
      expect(answer).to.include(patch);
    }
    const changed = await w.api.patch<Json>(`${pathOf(w)}/${id}`, {
      verificationConfig: { type: 'github', secret: 's3cret-s3cret-s3cret' },
    });
    expect(changed.verificationConfig).to.include({ type: 'github' });
  },
  'SRC-24 DELETE': async (w) => {
    const { id } = await w.source();
    await w.api.delete(`${pathOf(w)}/${id}`);
    expectError(await w.api.request('GET', `${pathOf(w)}/${id}`), 404, 'RESOURCE_NOT_FOUND');
  },
  'SRC-26 another slug is refused': async (w) => {
    const { id, slug } = await w.source();
    expect((await w.api.request('PATCH', `${pathOf(w)}/${id}`, { slug: 'changed' })).status).to.equal(400);
    expect((await w.api.get(`${pathOf(w)}/${id}`)).slug).to.equal(slug);
  },
  'SRC-27 deleted with its events and deliveries': async (w) => {
    const { source, eventId, delivery, path } = await w.deliver();
    await w.api.delete(`${pathOf(w)}/${source.id}`);
    expectError(await w.api.request('GET', path), 404, 'RESOURCE_NOT_FOUND');
    expect((await w.api.request('GET', `/api/deliveries/${delivery.id}`)).status, eventId).to.equal(404);
    expect((await w.api.list(`${w.base}/events?sourceId=${source.id}`)).pagination.total).to.equal(0);
  },
  'SRC-25 a slug of another form, and one that is taken': async (w) => {
    for (const slug of ['', 'With-Capitals', 'under_score', '-a', 'a b', 'ä']) {
      expectError(await w.api.request('POST', pathOf(w), bodyOf({ slug })), 400, 'INVALID_SLUG');
    }
    const { slug } = await created(w);
    expectError(await w.api.request('POST', pathOf(w), bodyOf({ slug })), 409, 'DUPLICATE_SLUG');
  },
});
