// Anyone who sees one signed webhook can try secrets on it at home, as fast as a machine hashes: a short secret falls. New ones have at
// least 16 bytes; what was stored before keeps working.
import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { expectInvalid } from '../support/api-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';

const KEY = randomBytes(32);
const SHORT = 'hunter2';
const BODY = '{"kind":"order.paid"}';

const signed = (secret: string) => `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`;

describe('Secrets of sources', () => {
  let testInstance: OwnHookyard;
  let organization: TestOrganization;
  before(async () => {
    testInstance = await startHookyard(undefined, { HOOKYARD_ENCRYPTION_KEYS: `k1:${KEY.toString('base64')}` });
    organization = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
  });
  after(() => testInstance?.close());

  const sources = () => `${organization.base}/sources`;
  const github = (secret: string) => ({ verificationConfig: { type: 'github', secret } });

  for (const type of ['github', 'stripe', 'slack', 'hmac']) {
    it(`are refused below 16 bytes (${type})`, async () => {
      for (const secret of [SHORT, 'fifteen-bytes-1']) {
        const verificationConfig = { type, secret, ...(type === 'hmac' && { header: 'X-Signature' }) };
        const body = { name: type, slug: `short-${type}`, verificationConfig };
        expectInvalid(await organization.api.request('POST', sources(), body), 'verificationConfig.secret');
      }
    });
  }

  for (const [provider, form] of [
    ['aws-sns', 'the ARN of the topic'],
    ['google-pubsub', 'the e-mail address of the service account'],
    ['paypal', 'the id of the webhook'],
    ['plaid', 'sandbox or production'],
  ] as const) {
    it(`are refused by their form where they are no secrets of one's own (${provider})`, async () => {
      const body = { name: provider, slug: `form-${provider}`, provider, verificationConfig: { secret: SHORT } };
      const answer = await organization.api.request('POST', sources(), body);
      expectInvalid(answer, 'verificationConfig.secret');
      expect(answer.body.message).to.include(form);
    });
  }

  it('are taken from 16 on', async () => {
    await organization.api.create(sources(), { name: 'S', slug: 'sixteen', ...github('sixteen-bytes-16') });
  });

  it('that are short and stored keep working, and stay when they are not sent, until they are replaced', async () => {
    const { id, slug } = await organization.api.create<{ slug: string }>(sources(), {
      name: 'Old',
      slug: 'old',
      ...github('a long one for now'),
    });
    // As a release before stored it.
    const stored = new SecretBox([{ id: 'k1', key: KEY }]).encrypt(SHORT, id);
    await testInstance.pool.query('update sources set verification_secret = $2 where id = $1', [id, stored]);
    const send = () =>
      fetch(`${organization.api.url}/ingest/${organization.slug}/${slug}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signed(SHORT) },
        body: BODY,
      });
    expect((await send()).status).to.equal(200);
    const path = `${sources()}/${id}`;
    await organization.api.patch(path, { name: 'Renamed' });
    await organization.api.patch(path, { verificationConfig: { type: 'github' } });
    await organization.api.patch(path, github('••••'));
    expect((await send()).status).to.equal(200);
    expectInvalid(await organization.api.request('PATCH', path, github(SHORT)), 'verificationConfig.secret');
    expect((await send()).status).to.equal(200);
  });
});
