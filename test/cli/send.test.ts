// hookyard send: what it signs is what sources of each kind accept. That of each provider is shown by
// test/conformance/providers.test.ts.
import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import type { Source } from '../../client/index.ts';
import { webhookFor } from '../../cli/webhook.ts';
import { publicVerificationConfig, verificationConfigSchema } from '../../core/verification/config.ts';
import { verify } from '../../core/verification/index.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import { senderOf } from '../../providers/index.ts';
import { commandLine, useCommandLine } from '../support/programs/cli.ts';
import { publishedSigners } from '../support/providers/published-signers.ts';
import { ADDRESS } from '../support/providers/verified.ts';
import { rawRequest } from '../support/raw-request.ts';

const SECRET = 'whsec_whispered_on';

describe('What hookyard send signs', () => {
  const header = 'X-Shop-Signature';
  const configs = [
    ...[{ type: 'github' }, { type: 'stripe' }, { type: 'slack' }],
    { type: 'hmac', header, algorithm: 'sha512', encoding: 'base64', prefix: 'v1=' },
    { type: 'hmac', header, timestampHeader: 'X-Shop-Time', timestampSeparator: ':' },
    {
      ...{ type: 'hmac_template', header, template: '{method} {url} {id}.{timestamp}.{body}', idHeader: 'X-Id' },
      ...{ signaturePart: 'v1', timestampPart: 't' },
    },
    { type: 'jwt', algorithm: 'HS256', audience: 'urn:shop', claims: { shop: 'one' }, bodyHashClaim: 'hash' },
    { type: 'header_token', header: 'X-Token', prefix: 'Token ' },
    { type: 'query_token', parameter: 'key' },
    { type: 'body_token', path: '$.auth.token' },
  ];
  for (const config of configs) {
    it(`a source takes: ${JSON.stringify(config)}`, async () => {
      const stored = publicVerificationConfig(verificationConfigSchema.parse({ ...config, secret: SECRET }));
      const verificationConfig = stored as Source['verificationConfig'];
      const source = { slug: 'shop', provider: null, verificationConfig };
      const wanted = { url: ADDRESS, privateKey: undefined };
      const { headers, body, query } = webhookFor(source, { ...wanted, secret: SECRET });
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      const request = rawRequest({
        ...{ headers: Object.fromEntries(lower), body, query, address: ADDRESS, nowMs: Date.now() },
      });
      const scheme = senderOf({ provider: null, verification: verificationConfig })?.verification;
      if (!scheme) throw new Error('no scheme is described');
      expect(await verify(scheme, { secret: SECRET }, request, NO_KEYS)).to.include({ valid: true });
      expect(await verify(scheme, { secret: 'another secret' }, request, NO_KEYS)).to.include({ valid: false });
      expect(() => webhookFor(source, { ...wanted, secret: undefined })).to.throw(/pass its secret with --secret/);
    });
  }
});

describe('hookyard send', () => {
  const { organization, cli, fails, file } = useCommandLine();

  it('signs as the provider of the source, with the secret that is given', async () => {
    await cli.ok('sources', 'create', 'paid', '--provider', 'stripe', '--secret', SECRET);
    const send = ['send', '--source', 'paid', '--event', 'invoice.paid'];
    const eventId = (await cli.ok(...send, '--secret', SECRET)).trim();
    expect(await cli.json('events', 'show', eventId)).to.have.nested.property('payload.data.object.amount_paid');
    expect(await cli.ok('sources', 'list')).to.match(/^paid .* stripe /m);
    const advice = /--secret \(or --private-key\) and --provider must match the source/;
    await fails(4, advice, ...send, '--secret', 'another');
    await fails(2, /paid verifies webhooks \(stripe\); pass its secret with --secret/, ...send);
    await fails(2, /omit --provider/, ...send, '--provider', 'github');
  });

  it('signs with a private key of yours where the source has the public one', async () => {
    const pem = (name: string, type: 'ed25519' | 'ec') => {
      const pair =
        type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('ed25519');
      return [
        file(`${name}-public.pem`, pair.publicKey.export({ format: 'pem', type: 'spki' })),
        file(`${name}-private.pem`, pair.privateKey.export({ format: 'pem', type: 'pkcs8' })),
      ] as const;
    };
    const [ofPublic, ofPrivate] = pem('own', 'ed25519');
    await cli.ok('sources', 'create', 'chat', '--provider', 'discord', '--secret', `@${ofPublic}`);
    const send = ['send', '--source', 'chat'];
    // Discord gets an answer without content.
    expect(await cli.ok(...send, '--private-key', ofPrivate)).to.match(/^The source returned 204$/m);
    await fails(2, /signs with a private key.*--provider discord.*--private-key/, ...send, '--secret', SECRET);
    await fails(2, /different type.*openssl genpkey/, ...send, '--private-key', pem('other', 'ec')[1]);
    await fails(2, /is not an unencrypted private key in PEM format/, ...send, '--private-key', ofPublic);
    await fails(4, /must match the source/, ...send, '--private-key', pem('same', 'ed25519')[1]);
  });

  it('says who alone can sign, and how to try its samples all the same', async () => {
    await cli.ok('sources', 'create', 'open');
    const [name = '', signer] = Object.entries(publishedSigners)[0] ?? [];
    const secret = signer?.secret() ?? '';
    await cli.ok('sources', 'create', 'published', '--provider', name, '--secret', secret);
    const told = new RegExp(`hookyard send --source test --provider ${name}`);
    await fails(2, told, 'send', '--source', 'published', '--secret', secret);
    expect(await cli.ok('send', '--source', 'open', '--provider', name)).to.match(/^evt_/);
    const config = { type: 'jwt', jwksUrl: 'https://issuer.example.com/keys', audience: 'urn:shop' };
    await cli.ok('sources', 'create', 'tokens', '--data', JSON.stringify({ verificationConfig: config }));
    await fails(2, /hookyard send --source test\n$/, 'send', '--source', 'tokens');
  });

  it('sends a body of yours, from stdin too, byte by byte', async () => {
    await cli.ok('sources', 'create', 'plain');
    const body = '  {"order" : 820982911946154509}\n';
    const sent = await cli.run(['send', '--source', 'plain', '--data', '-', '--json'], { input: body });
    expect(sent.code, sent.stderr).to.equal(0);
    const { eventId } = JSON.parse(sent.stdout);
    expect(await cli.ok('events', 'show', eventId, '--raw')).to.equal(body);
    expect(await cli.ok('events', 'show', eventId)).to.include('"order": 820982911946154509');
    expect(await cli.ok('events', 'list', '--source', 'plain')).to.match(new RegExp(`${eventId} +plain +not routed`));
    expect(await cli.ok('events', 'list', '--routed=false')).to.include(eventId);
    expect(await cli.ok('events', 'list', '--routed', 'true')).not.to.include(eventId);
    await fails(2, /--routed must be true or false/, 'events', 'list', '--routed', 'no');
    expect(await cli.ok('send', '--source', 'plain', '--watch')).to.match(/matched no route/);
    const bytes = Buffer.from([0x1f, 0x8b, 0xff, 0x00, 0xfe, 0x80]);
    const binary = (await cli.ok('send', '--source', 'plain', '--data', `@${file('body.gz', bytes)}`)).trim();
    const path = `${organization.base}/events/${binary}/payload`;
    const headers = { Authorization: `Bearer ${organization.token}` };
    const answer = await fetch(`${organization.api.url}${path}`, { headers });
    expect(Buffer.from(await answer.arrayBuffer()).toString('hex')).to.equal(bytes.toString('hex'));
    const empty = (await cli.ok('send', '--source', 'plain', '--data', '')).trim();
    expect(await cli.json('events', 'show', empty)).to.include({ payload: '', payloadSize: 0 });
  });

  it('needs to see the token of an address only where the source demands it', async () => {
    await cli.ok('sources', 'create', 'tokened', '--data', JSON.stringify({ ingestToken: 'optional' }));
    const scopes = ['read'];
    const { token } = await organization.api.create<{ token: string }>('/api/api-keys', { name: 'Reader', scopes });
    const reader = commandLine({ api: organization.api, token });
    expect(await reader.ok('send', '--source', 'tokened')).to.match(/^evt_/);
    await cli.ok('sources', 'update', 'tokened', '--data', JSON.stringify({ ingestToken: 'required' }));
    const refused = await reader.run(['send', '--source', 'tokened']);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('sources:write or secrets:read');
    expect(await cli.ok('send', '--source', 'tokened')).to.match(/^evt_/);
  });

  it('prints what a sender chose without obeying it', async () => {
    const { eventId } = await cli.json<{ eventId: string }>('send', '--source', 'plain', '--data', 'a\u001b[2J\u0007b');
    const shown = await cli.ok('events', 'show', eventId);
    const characters = Array.from(shown, (character) => character.codePointAt(0));
    expect(shown).to.include('ab');
    expect(characters).not.to.include(0x1b).and.not.to.include(0x07);
  });
});

describe('hookyard providers', () => {
  const { cli, fails } = useCommandLine();

  it('lists them, and says how one is connected', async () => {
    expect(await cli.ok('providers')).to.match(/^github +GitHub$/m);
    expect(await cli.ok('providers', 'meta')).to.include('--verify-token: a token that you choose');
    const stripe = await cli.json<{ name: string; samples: string[] }>('providers', 'stripe');
    expect(stripe.samples).to.include.members(['payment_intent.succeeded', 'invoice.paid']);
    await fails(2, /No provider named nobody/, 'providers', 'nobody');
  });

  it('make sources whose subscriptions are confirmed', async () => {
    const secret = 'arn:aws:sns:eu-central-1:123456789012:orders';
    const create = ['sources', 'create', 'topic', '--secret', secret, '--confirm-subscriptions'];
    await fails(2, /requires --verify, --provider/, ...create);
    await cli.ok(...create, '--provider', 'aws-sns');
    const { verificationConfig } = await cli.json('sources', 'show', 'topic');
    expect(verificationConfig).to.deep.equal({ type: 'provider', confirmSubscriptions: true });
  });
});
