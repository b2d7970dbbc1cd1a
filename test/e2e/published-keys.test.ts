// Sources of providers that publish their keys, over the real ingest and with a real server in the place of the
// providers: their webhooks are taken, everything else refused, and nothing is acknowledged that could not be verified.
// And handshakes that leave something to do.
import { expect } from 'chai';
import { createClient, type Json } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { startKeyServer } from '../support/providers/key-server.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { type PublishedSigner, publishedSigners, snsConfirmation } from '../support/providers/published-signers.ts';
import { startService, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useStarted } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const signerOf = (name: string) => publishedSigners[name] as PublishedSigner;

describe('sources of providers that publish their keys', () => {
  const keyServer = useStarted(startKeyServer);
  const service = useStarted(() => startService('api', { HOOKYARD_PROVIDER_KEYS_URL: keyServer.url }));
  const organization = useOrganization(() => ({ service }));
  beforeEach(() => {
    keyServer.state = 'up';
    keyServer.asked.length = 0;
  });

  const path = ({ id }: SourceRecord) => `${organization.base}/sources/${id}`;
  const sourceOf = (provider: string, secret: string | undefined, fields: Json = {}, config: Json = {}) =>
    makeSource(organization, {
      ...{ provider, verificationConfig: { ...(secret !== undefined && { secret }), ...config } },
      ...fields,
    });
  const here = ({ webhookUrl }: SourceRecord) => service.url + new URL(webhookUrl).pathname;
  /** As a program of the provider sends it: what a handshake is answered is not in the description of the API. */
  async function post(source: SourceRecord, sent: { headers: Record<string, string>; body: Buffer | string }) {
    const headers = { 'content-type': 'application/json', ...sent.headers };
    const answer = await fetch(here(source), { method: 'POST', headers, body: sent.body.toString() });
    const text = await answer.text();
    const body = text.startsWith('{') ? (JSON.parse(text) as Json) : {};
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body };
  }
  const readerOf = async () => {
    const body = { name: 'Reads', scopes: ['sources:read'] };
    const { token } = await organization.api.create<{ token: string }>('/api/api-keys', body);
    return createClient(service.url, token);
  };
  const eventsOf = async ({ id }: SourceRecord) =>
    (await organization.api.list(`${organization.base}/events?sourceId=${id}`)).pagination.total;
  const handshakeOf = (source: SourceRecord, kind: string, api = organization.api) =>
    until(`the handshake ${kind} to be shown`, async () => {
      const { lastHandshake } = await api.get<{ lastHandshake: Json | null }>(path(source));
      return lastHandshake?.kind === kind && lastHandshake;
    });

  /** A source, and what its provider sends to it. */
  async function pair(name: string) {
    const signer = signerOf(name);
    const [key, secret] = [signer.key(), signer.secret()];
    const source = await sourceOf(name, secret);
    const body = Buffer.from(`{"order":${Math.random()}}`);
    const sent = (withKey = key) => signer.sign({ body, nowMs: Date.now(), url: source.webhookUrl, secret }, withKey);
    return { signer, key, source, sent };
  }

  for (const name of Object.keys(publishedSigners)) {
    it(`take the webhooks of ${name}, also when it has another key, and refuse all others`, async () => {
      const { signer, key, source, sent } = await pair(name);
      signer.publish(keyServer, key);
      await until('the key to be fetched', async () => (await post(source, sent())).status === 200);
      expect(await eventsOf(source)).to.equal(1);
      const forged = await post(source, sent({ ...signer.key(), id: key.id }));
      expect([forged.status, forged.body.code]).to.deep.equal([401, 'INVALID_SIGNATURE']);
      const rotated = signer.key();
      signer.publish(keyServer, rotated);
      await until('the next key to be fetched', async () => (await post(source, sent(rotated))).status === 200);
      expect(await eventsOf(source)).to.equal(2);
    });
  }

  it('store nothing while the key cannot be fetched, and say when to come again', async () => {
    const { signer, key, source, sent } = await pair('paypal');
    signer.publish(keyServer, key);
    keyServer.state = 'failing';
    const { status, retryAfter, body } = await post(source, sent());
    expect([status, retryAfter, body.code]).to.deep.equal([503, '5', 'UNAVAILABLE']);
    expect(body.message).to.match(
      /from api.paypal.com: HTTP 500 response; nothing was stored, so send the webhook again$/,
    );
    expect(await eventsOf(source)).to.equal(0);
    keyServer.state = 'up';
    await until('the key to be fetched again', async () => (await post(source, sent())).status === 200);
    expect(await eventsOf(source)).to.equal(1);
  });

  describe('of Amazon SNS', () => {
    const signer = signerOf('aws-sns');
    const key = signer.key();
    const confirmation = (secret: string) => snsConfirmation({ secret, nowMs: Date.now() }, key);
    const addressIn = ({ body }: { body: Buffer }) =>
      (JSON.parse(body.toString()) as { SubscribeURL: string }).SubscribeURL.replace('https://', '');
    const visitsOf = (sent: { body: Buffer }) => keyServer.asked.filter(({ address }) => address === addressIn(sent));
    beforeEach(() => {
      signer.publish(keyServer, key);
      keyServer.documents.set('sns.eu-central-1.amazonaws.com/', () => ({ body: '<ConfirmSubscriptionResponse/>' }));
    });

    it('show the address that confirms a subscription, and do not visit it', async () => {
      const secret = signer.secret();
      const source = await sourceOf('aws-sns', secret);
      const sent = confirmation(secret);
      expect((await post(source, sent)).status).to.equal(200);
      const { shown } = await handshakeOf(source, 'subscription');
      expect(shown).to.equal(`https://${addressIn(sent)}`);
      expect(visitsOf(sent)).to.deep.equal([]);
      expect(await eventsOf(source)).to.equal(0);
      const seen = await handshakeOf(source, 'subscription', await readerOf());
      expect(seen.shown).to.be.a('string').and.not.include('Token=');
    });

    it('visit it when the owner has allowed that, and ask SNS to come again when it fails', async () => {
      const secret = signer.secret();
      const source = await sourceOf('aws-sns', secret, {}, { confirmSubscriptions: true });
      const sent = confirmation(secret);
      keyServer.documents.set('sns.eu-central-1.amazonaws.com/', () => ({ status: 500, body: '' }));
      const failed = await post(source, sent);
      expect([failed.status, failed.retryAfter]).to.deep.equal([503, '5']);
      keyServer.documents.set('sns.eu-central-1.amazonaws.com/', () => ({ body: '<ConfirmSubscriptionResponse/>' }));
      expect((await post(source, sent)).status).to.equal(200);
      expect(visitsOf(sent).map(({ method }) => method)).to.deep.equal(['GET', 'GET']);
      expect(await handshakeOf(source, 'subscription')).to.include({ shown: null });
      expect(await eventsOf(source)).to.equal(0);
    });

    it('visit nothing for a message that SNS has not signed', async () => {
      const secret = signer.secret();
      const source = await sourceOf('aws-sns', secret, {}, { confirmSubscriptions: true });
      const sent = snsConfirmation({ secret, nowMs: Date.now() }, { ...signer.key(), id: key.id });
      expect((await post(source, sent)).status).to.equal(401);
      expect(visitsOf(sent)).to.deep.equal([]);
    });
  });

  it('remember the token of Notion, and show it to those who may change the source', async () => {
    const source = await sourceOf('notion', undefined, { ingestToken: 'required' });
    const token = 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl';
    const handshake = (text: string) =>
      post(source, { headers: {}, body: JSON.stringify({ verification_token: text }) });
    const { secret: other } = (signers.notion as (typeof signers)[string]).secret();
    const signed = async (key: string) => {
      const body = Buffer.from('{"type":"page.created"}');
      const message = { body, nowMs: Date.now(), url: source.webhookUrl };
      const { headers } = await (signers.notion as (typeof signers)[string]).sign(message, key);
      return (await post(source, { headers, body })).status;
    };
    expect(await signed(token)).to.equal(401);
    expect((await handshake(token)).status).to.equal(200);
    expect((await handshakeOf(source, 'verification-token')).shown).to.equal(token);
    expect((await handshake(other)).status, 'another one').to.equal(401);
    expect([await signed(token), await signed(other)]).to.deep.equal([200, 401]);
    expect(await eventsOf(source)).to.equal(1);
    const seen = await handshakeOf(source, 'verification-token', await readerOf());
    expect(seen.shown).to.be.a('string').and.not.equal(token);
    const rows = await selectRows<{ row: string }>(testPool())`select row_to_json(s)::text as row from sources s
      where id = ${source.id}`;
    expect(rows[0]?.row).to.be.a('string').and.not.include(token);
  });

  it('must ask for a token of their address where they are concealed, as a fetched key would tell of them', async () => {
    const signer = signerOf('google-pubsub');
    const fields = { provider: 'google-pubsub', verificationConfig: { secret: signer.secret() }, concealed: true };
    const refused = await organization.api.request<{ message: string }>('POST', `${organization.base}/sources`, {
      ...{ name: 'Concealed', slug: 'concealed' },
      ...fields,
    });
    expect(refused.status).to.equal(400);
    expect(refused.body.message).to.match(/ingestToken.*must be "required" for a concealed source/);
    const source = await makeSource(organization, { ...fields, ingestToken: 'required' });
    const loosened = await organization.api.request('PATCH', path(source), { ingestToken: 'optional' });
    expect(loosened.status).to.equal(400);
  });
});
