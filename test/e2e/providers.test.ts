import { expect } from 'chai';
import { providerNamed } from '../../providers/index.ts';
import type { Json } from '../support/api-client.ts';
import { type Ask, askSource, signedRequest } from '../support/providers/provider-requests.ts';
import { signers } from '../support/providers/provider-signers.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import type { SourceView } from '../support/records.ts';
import { PLANTED } from '../support/attacks/secrecy.ts';
import { until } from '../support/until.ts';
import { openConnection } from '../security/raw-connection.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const VERIFY_TOKEN = `${PLANTED}-verify-token`;

describe('sources with a provider', () => {
  const { testInstance, records, receiver } = useHookyard();

  const sourceOf = (provider: string, config?: Json, fields: Json = {}) =>
    records.source({ provider, ...(config && { verificationConfig: config }), ...fields });
  const shown = ({ id }: SourceView) => testInstance.client.get<Json>(`${testInstance.base}/sources/${id}`);
  const update = ({ id }: SourceView, fields: Json) =>
    testInstance.client.patch<Json>(`${testInstance.base}/sources/${id}`, fields);

  const ask: Ask = (source, method, rest) => askSource(testInstance.client.url, source, method, rest);
  const secretOf = (name: string) => (signers[name] as (typeof signers)[string]).secret();

  it('are of every provider, and take its webhooks and no other', async () => {
    for (const name of Object.keys(signers)) {
      const { secret, key } = (signers[name] as (typeof signers)[string]).secret();
      const config = { secret, ...(providerNamed(name)?.verifyToken !== undefined && { verifyToken: VERIFY_TOKEN }) };
      const source = await sourceOf(name, config);
      const request = await signedRequest(name, source, key);
      const reply = await ask(source, 'POST', request);
      const { status = 200 } = providerNamed(name)?.answer ?? {};
      expect([name, reply.status, reply.status === status ? '' : reply.text]).to.deep.equal([name, status, '']);
      const other = (signers[name] as (typeof signers)[string]).secret();
      const forged = await ask(source, 'POST', await signedRequest(name, source, other.key));
      expect([name, forged.status]).to.deep.equal([name, 401]);
      expect(await records.storedEvents(source.id), name).to.equal(1);
    }
  });

  it('neither store nor forward a token that the provider sends', async () => {
    const endpoint = receiver.endpoint(200);
    for (const name of ['gitlab', 'okta', 'postmark', 'azure-event-grid', 'datadog', 'auth0', 'monday']) {
      const { secret, key } = (signers[name] as (typeof signers)[string]).secret();
      const { source } = await records.pipe(endpoint.url, {
        source: { provider: name, verificationConfig: { secret } },
      });
      const request = await signedRequest(name, source, key);
      expect((await ask(source, 'POST', request)).status).to.be.within(200, 204);
      const stored = await execute<{ id: string; row: string }>(testInstance.pool)`select id,
        row_to_json(e)::text as row from events e where source_id = ${source.id}`;
      expect(stored.rows, name).to.have.length(1);
      await records.eventWith('delivered', stored.rows[0]?.id as string);
      const seen = [stored.rows[0]?.row, endpoint.requests.map(({ headers }) => headers)];
      const secrets = [secret, Buffer.from(secret).toString('base64'), request.headers.authorization ?? secret];
      for (const text of secrets) expect(JSON.stringify(seen), name).not.to.include(text);
    }
  });

  it('refuse a header of a signature that comes twice, also one of which Node drops the second', async () => {
    const source = await sourceOf('postmark', { secret: 'user:a secret of many letters' });
    const right = `Authorization: Basic ${Buffer.from('user:a secret of many letters').toString('base64')}\r\n`;
    const statusOf = async (headers: string) => {
      const { socket, closed } = await openConnection(Number(new URL(testInstance.client.url).port));
      const { pathname } = new URL(source.webhookUrl);
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}Content-Length: 2\r\n\r\n{}`,
      );
      return (await closed)[0]?.status;
    };
    expect(await statusOf(right)).to.equal(200);
    expect(await statusOf(`${right}authorization: Basic eDp5\r\n`)).to.equal(401);
    expect(await statusOf(right + right)).to.equal(401);
  });

  it('can be given another provider, and taken theirs, but never lose their verification by the way', async () => {
    const github = (signers.github as (typeof signers)[string]).secret();
    const shopify = (signers.shopify as (typeof signers)[string]).secret();
    const source = await sourceOf('github', { secret: github.secret });
    const path = `${testInstance.base}/sources/${source.id}`;
    const patch = async (fields: Json) => (await testInstance.client.request('PATCH', path, fields)).status;
    expect(await patch({ provider: 'shopify' })).to.equal(400);
    expect(await patch({ provider: null })).to.equal(400);
    expect(await patch({ provider: 'github', name: 'Code' })).to.equal(200);
    expect(await patch({ verificationConfig: {} })).to.equal(200);
    expect((await ask(source, 'POST', await signedRequest('github', source, github.key))).status).to.equal(200);
    expect(await patch({ provider: 'shopify', verificationConfig: { secret: shopify.secret } })).to.equal(200);
    expect((await ask(source, 'POST', await signedRequest('github', source, github.key))).status).to.equal(401);
    expect((await ask(source, 'POST', await signedRequest('shopify', source, shopify.key))).status).to.equal(200);
    expect(await patch({ verificationConfig: { type: 'github', secret: github.secret } })).to.equal(200);
    expect(await shown(source)).to.deep.include({ provider: null, verificationConfig: { type: 'github' } });
    expect((await ask(source, 'POST', await signedRequest('github', source, github.key))).status).to.equal(200);
    expect(await patch({ verificationConfig: { type: 'provider', secret: github.secret } })).to.equal(400);
  });

  describe('answer handshakes, which are no events', () => {
    const handshaken = async (source: SourceView, kind: string) => {
      await until(`the handshake ${kind} to be shown`, async () => {
        const { lastHandshake } = await shown(source);
        if ((lastHandshake as Json | null)?.kind !== kind) throw new Error(JSON.stringify(lastHandshake));
        return true;
      });
      expect(await records.storedEvents(source.id), 'events').to.equal(0);
    };

    it('of Microsoft Graph: the validation token comes back as text', async () => {
      const source = await sourceOf('microsoft-graph', { secret: secretOf('microsoft-graph').secret });
      const reply = await ask(source, 'POST', { query: 'validationToken=Validation%3A+%3Cb%3E+1' });
      expect(reply).to.include({ status: 200, text: 'Validation: <b> 1', type: 'text/plain; charset=utf-8' });
      expect(reply.headers.get('x-content-type-options')).to.equal('nosniff');
      await handshaken(source, 'echo-query');
    });

    it('of Slack, Twitch and Zoom: signed, and refused when they are not', async () => {
      const asked: [name: string, body: Json, headers: Record<string, string>, reply: (text: string) => void][] = [
        [
          'slack',
          { type: 'url_verification', challenge: '3eZbrw1a' },
          {},
          (text) => expect(JSON.parse(text)).to.deep.equal({ challenge: '3eZbrw1a' }),
        ],
        [
          'twitch',
          { challenge: 'pogchamp-kappa', subscription: {} },
          { 'twitch-eventsub-message-type': 'webhook_callback_verification' },
          (text) => expect(text).to.equal('pogchamp-kappa'),
        ],
        [
          'zoom',
          { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } },
          {},
          (text) => expect(JSON.parse(text)).to.have.property('plainToken', 'qgg8vlvZRS6UYooatFL8Aw'),
        ],
      ];
      for (const [name, body, headers, expectReply] of asked) {
        const { secret, key } = secretOf(name);
        const source = await sourceOf(name, { secret });
        const request = await signedRequest(name, source, key, JSON.stringify(body));
        const reply = await ask(source, 'POST', { ...request, headers: { ...request.headers, ...headers } });
        expect([name, reply.status]).to.deep.equal([name, 200]);
        expectReply(reply.text);
        const forged = await signedRequest(name, source, secretOf(name).key, JSON.stringify(body));
        expect((await ask(source, 'POST', { ...forged, headers: { ...forged.headers, ...headers } })).status).to.equal(
          401,
        );
        await handshaken(source, name === 'zoom' ? 'plain-token' : 'challenge');
      }
    });

    it('of Asana: the secret is remembered before it is answered, and no other takes its place', async () => {
      const source = await sourceOf('asana', undefined, { ingestToken: 'required' });
      const { secret, key } = secretOf('asana');
      const early = await signedRequest('asana', source, key);
      expect((await ask(source, 'POST', early)).status).to.equal(401);
      const greet = (text: string) => ask(source, 'POST', { headers: { 'x-hook-secret': text }, body: '{}' });
      const answers = await Promise.all([greet(secret), greet(secret)]);
      for (const { status, headers } of answers)
        expect([status, headers.get('x-hook-secret')]).to.deep.equal([200, secret]);
      await handshaken(source, 'hook-secret');
      expect((await greet(secretOf('asana').secret)).status).to.equal(401);
      expect((await ask(source, 'POST', await signedRequest('asana', source, key))).status).to.equal(200);
      expect(JSON.stringify(await shown(source))).not.to.include(secret);
      const rows = await selectRows<Json>(testInstance.pool)`select actor, action, resource, members, outcome
        from audit_records where record_ids @> array[${source.id}] and actor = 'provider'`;
      const entry = { actor: 'provider', action: 'rememberSecret', resource: 'sources', outcome: 'done' };
      expect(rows).to.deep.equal([{ ...entry, members: ['verificationConfig.secret'] }]);
      // As it was read.
      await update(source, { verificationConfig: (await shown(source)).verificationConfig, ingestToken: 'optional' });
      expect((await greet(secretOf('asana').secret)).status).to.equal(401);
      expect((await ask(source, 'POST', await signedRequest('asana', source, key))).status).to.equal(200);
      const path = `${testInstance.base}/sources/${source.id}`;
      const forget = { verificationConfig: { secret: null } };
      expect(await testInstance.client.request('PATCH', path, forget)).to.have.property('status', 400);
      expect((await greet(secretOf('asana').secret)).status, 'nothing was forgotten').to.equal(401);
      await update(source, { ...forget, ingestToken: 'required' });
      const next = secretOf('asana');
      expect((await greet(next.secret)).status).to.equal(200);
      expect((await ask(source, 'POST', await signedRequest('asana', source, next.key))).status).to.equal(200);
    });

    it('of Azure Event Grid: with the token of the address, and CloudEvents with OPTIONS', async () => {
      const { secret } = secretOf('azure-event-grid');
      const source = await sourceOf('azure-event-grid', { secret });
      const validation = {
        headers: { 'content-type': 'application/json', 'aeg-event-type': 'SubscriptionValidation' },
        body: JSON.stringify([{ id: '1', data: { validationCode: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6' } }]),
      };
      expect((await ask(source, 'POST', validation)).status).to.equal(401);
      const reply = await ask(source, 'POST', { ...validation, query: `token=${secret}` });
      expect(JSON.parse(reply.text)).to.deep.equal({ validationResponse: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6' });
      await handshaken(source, 'validation-code');
      const origin = { headers: { 'webhook-request-origin': 'eventgrid.azure.net' } };
      expect((await ask(source, 'OPTIONS', origin)).status).to.equal(405);
      const allowed = await ask(source, 'OPTIONS', { ...origin, query: `token=${secret}` });
      expect([allowed.status, allowed.headers.get('webhook-allowed-origin')]).to.deep.equal([
        200,
        'eventgrid.azure.net',
      ]);
      await handshaken(source, 'abuse-protection');
    });

    it('of Discord: a PING only with a right signature', async () => {
      const source = await sourceOf('discord', { secret: secretOf('discord').secret });
      const body = JSON.stringify({ version: 1, type: 0 });
      expect(
        (await ask(source, 'POST', await signedRequest('discord', source, secretOf('discord').key, body))).status,
      ).to.equal(401);
    });

    it('tell a stranger nothing of a source that is disabled or concealed', async () => {
      const { secret } = secretOf('microsoft-graph');
      const asked = { query: 'validationToken=abc' };
      const disabled = await sourceOf('microsoft-graph', { secret }, { enabled: false });
      expect(await ask(disabled, 'POST', asked)).to.include({ status: 401 });
      const concealed = await sourceOf('microsoft-graph', { secret }, { concealed: true });
      expect(await ask(concealed, 'POST', asked)).to.include({ status: 404 });
      const withToken = await sourceOf('microsoft-graph', { secret }, { concealed: true, ingestToken: 'required' });
      expect(await ask(withToken, 'POST', asked)).to.include({ status: 200, text: 'abc' });
      const meta = await sourceOf('meta', { secret, verifyToken: VERIFY_TOKEN }, { concealed: true });
      const query = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${VERIFY_TOKEN}`;
      expect(await ask(meta, 'GET', { query })).to.include({ status: 200, text: '1' });
    });

    it('only where the provider asks so: other methods stay unknown to every source', async () => {
      const plain = await records.source();
      const github = await sourceOf('github', { secret: secretOf('github').secret });
      const disabled = await sourceOf('trello', { secret: secretOf('trello').secret }, { enabled: false });
      const hidden = await sourceOf('trello', { secret: secretOf('trello').secret }, { ingestToken: 'required' });
      const withoutToken = { ...hidden, webhookUrl: hidden.webhookUrl.slice(0, hidden.webhookUrl.lastIndexOf('/')) };
      const missing = { ...plain, webhookUrl: `${plain.webhookUrl}-2` };
      for (const source of [plain, github, disabled, withoutToken, missing]) {
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
          const reply = await ask(source, method, { query: 'challenge=abc&validationToken=abc' });
          expect([method, reply.status, reply.headers.get('allow')]).to.deep.equal([method, 405, 'POST, PUT, PATCH']);
        }
      }
      expect(await ask(hidden, 'HEAD')).to.include({ status: 200, text: '', type: null });
    });
  });

  describe('check what the owner enters', () => {
    const refusedWith = async (fields: Json): Promise<string> => {
      const path = `${testInstance.base}/sources`;
      const answer = await testInstance.client.request<{ message: string }>('POST', path, {
        ...{ name: 'P', slug: 'refused-provider' },
        ...fields,
      });
      expect(answer.status).to.equal(400);
      return answer.body.message;
    };

    it('by the form of each provider', async () => {
      const secret = 'a secret of many letters';
      expect(await refusedWith({ provider: 'nobody' })).to.match(/provider/);
      expect(await refusedWith({ provider: 'github' })).to.match(/verificationConfig.secret/);
      expect(await refusedWith({ provider: 'github', verificationConfig: { secret: '' } })).to.match(
        /must not be empty/,
      );
      expect(await refusedWith({ provider: 'github', verificationConfig: { type: 'github', secret } })).to.match(
        /provider/,
      );
      expect(await refusedWith({ verificationConfig: { type: 'provider', secret } })).to.match(/provider/);
      expect(await refusedWith({ provider: 'openai', verificationConfig: { secret } })).to.match(/whsec_/);
      expect(await refusedWith({ provider: 'discord', verificationConfig: { secret } })).to.match(/public key/);
      expect(await refusedWith({ provider: 'sendgrid', verificationConfig: { secret } })).to.match(/public key/);
      expect(await refusedWith({ provider: 'postmark', verificationConfig: { secret } })).to.match(/colon/);
      expect(await refusedWith({ provider: 'meta', verificationConfig: { secret } })).to.match(/verifyToken/);
    });

    it('by one provider, whether the source or its verificationConfig names it', async () => {
      const [github, shopify] = [secretOf('github'), secretOf('shopify')];
      const takes = async (source: SourceView, name: string, key: Parameters<typeof signedRequest>[2]) =>
        (await ask(source, 'POST', await signedRequest(name, source, key))).status;
      const config = { provider: 'github', secret: github.secret };
      const source = await records.source({ verificationConfig: config });
      expect(await shown(source)).to.deep.include({ provider: 'github', verificationConfig: { type: 'provider' } });
      expect(await takes(source, 'github', github.key)).to.equal(200);
      await update(source, { verificationConfig: { provider: 'github' } });
      expect(await takes(source, 'github', github.key), 'the secret is kept').to.equal(200);
      await update(source, { verificationConfig: { type: 'provider', provider: 'shopify', secret: shopify.secret } });
      expect(await takes(source, 'shopify', shopify.key)).to.equal(200);
      const path = `${testInstance.base}/sources/by-slug/${source.slug}`;
      const put = { name: 'Shop', provider: 'github', verificationConfig: config };
      expect((await testInstance.client.request('PUT', path, put)).status).to.equal(200);
      expect(await takes(source, 'github', github.key)).to.equal(200);
      const two = /^verificationConfig.provider must be the same as provider \(shopify\) or omitted$/;
      expect(await refusedWith({ provider: 'shopify', verificationConfig: config })).to.match(two);
      const own = `${testInstance.base}/sources/${source.id}`;
      for (const fields of [{ provider: 'shopify' }, { provider: null }]) {
        const sent = { ...fields, verificationConfig: config };
        expect((await testInstance.client.request('PATCH', own, sent)).status).to.equal(400);
      }
      for (const wrong of ['nobody', 7, ['github']])
        expect(await refusedWith({ verificationConfig: { ...config, provider: wrong } })).to.match(/provider/);
      expect(await refusedWith({ verificationConfig: { ...config, type: 'hmac' } })).to.match(/must be "provider"/);
    });

    it('so that nobody but the provider can send the secret of a source first', async () => {
      expect(await refusedWith({ provider: 'asana' })).to.match(/ingestToken/);
      expect(await refusedWith({ provider: 'asana', ingestToken: 'optional' })).to.match(/ingestToken/);
      expect(await refusedWith({ provider: 'notion' })).to.match(/ingestToken/);
      expect(await refusedWith({ provider: 'gitlab', verificationConfig: { secret: null } })).to.match(/secret/);
    });

    it('so that a repeat is never to be known by a signature that there is none of', async () => {
      const idempotencyKey = { signature: true, windowSeconds: 60 };
      const verificationConfig = { secret: 'a secret of many letters' };
      expect(await refusedWith({ provider: 'gitlab', verificationConfig, idempotencyKey })).to.match(/signature/);
      const source = await sourceOf('shopify', verificationConfig, { idempotencyKey });
      const request = await signedRequest('shopify', source, 'a secret of many letters');
      expect(JSON.parse((await ask(source, 'POST', request)).text)).not.to.have.property('duplicate');
      expect(JSON.parse((await ask(source, 'POST', request)).text)).to.have.property('duplicate', true);
    });

    it('and list the providers with what each needs', async () => {
      const { data, pagination } = await testInstance.client.list<Json>('/api/providers?pageSize=100');
      expect(pagination.total).to.equal(Object.keys({ ...signers, ...publishedSigners }).length);
      const meta = data.find(({ name }) => name === 'meta');
      expect(meta).to.deep.include({ title: 'Meta (WhatsApp, Instagram, Messenger)', handshakes: ['hub-challenge'] });
      expect(meta).to.include.keys('docs', 'secret', 'verifyToken', 'eventType', 'dedup', 'answer', 'instructions');
      for (const { name, dedup } of data.filter((each) => each.dedup !== null)) {
        const secret = publishedSigners[name as string]?.secret() ?? signers[name as string]?.secret().secret;
        await sourceOf(name as string, { secret }, { idempotencyKey: { ...(dedup as Json), windowSeconds: 60 } });
      }
    });
  });
});
