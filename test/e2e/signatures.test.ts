// Webhooks as the providers send them: genuine ones are delivered, everything else is refused and not stored.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { SourceView } from '../support/records.ts';
import { leakedLines, PLANTED } from '../support/attacks/secrecy.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const SECRET = `whsec_${PLANTED}_signing`;
const BODY = JSON.stringify({ id: 'evt_1', note: `${PLANTED} payload` });
const MINUTE_S = 60;

const mac = (text: string, algorithm = 'sha256', secret = SECRET, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac(algorithm, secret).update(text).digest(encoding);
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** How a provider sends: what it adds to a body, at a time in seconds since 1970. */
type Sign = (body: string, time: number) => Record<string, string>;

const github: Sign = (body) => ({
  'content-type': 'application/json',
  'user-agent': 'GitHub-Hookshot/044aadd',
  'x-github-event': 'push',
  'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  'x-github-hook-id': '292430182',
  'x-hub-signature': `sha1=${mac(body, 'sha1')}`,
  'x-hub-signature-256': `sha256=${mac(body)}`,
});
const stripe: Sign = (body, time) => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  'stripe-signature': `t=${time},v1=${mac(`${time}.${body}`)},v0=${mac(`${time}.${body}`, 'sha256', 'test')}`,
});
const slack: Sign = (body, time) => ({
  'content-type': 'application/json',
  'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
  'x-slack-request-timestamp': `${time}`,
  'x-slack-signature': `v0=${mac(`v0:${time}:${body}`)}`,
});

describe('signed webhooks', () => {
  const { testInstance, records, receiver } = useHookyard();

  const expectRefused = async (source: SourceView, headers: Record<string, string>, body = BODY) => {
    const answer = await records.post(source, body, headers);
    expect(answer.status).to.equal(401);
    expect(answer.body).to.include({ code: 'INVALID_SIGNATURE' });
    expect(await records.storedEvents(source.id), 'events stored').to.equal(0);
  };

  const providers: [type: string, sign: Sign, signatureHeader: string][] = [
    ['github', github, 'x-hub-signature-256'],
    ['stripe', stripe, 'stripe-signature'],
    ['slack', slack, 'x-slack-signature'],
  ];
  for (const [type, sign, signatureHeader] of providers) {
    describe(`of ${type}`, () => {
      const verified = { verificationConfig: { type, secret: SECRET } };

      it('arrive with the headers of the provider', async () => {
        const endpoint = receiver.endpoint(200);
        const { source } = await records.pipe(endpoint.url, { source: verified });
        const headers = sign(BODY, nowSeconds());
        const eventId = await records.accepted(source, BODY, headers);
        await records.eventWith('delivered', eventId);
        const [request] = endpoint.requests;
        expect(request?.body.toString()).to.equal(BODY);
        const { 'user-agent': _replaced, ...forwarded } = headers;
        expect(request?.headers).to.include(forwarded);
        expect(request?.headers['user-agent']).to.match(/^Hookyard\//);
      });

      it('are refused when the body was changed', async () => {
        const source = await records.source(verified);
        await expectRefused(source, sign(BODY, nowSeconds()), `${BODY} `);
      });

      it('are refused without a signature, or with one of another secret', async () => {
        const source = await records.source(verified);
        const headers = sign(BODY, nowSeconds());
        const { [signatureHeader]: signature = '', ...unsigned } = headers;
        await expectRefused(source, unsigned);
        await expectRefused(source, { ...headers, [signatureHeader]: signature.replace(/[0-9a-f]{64}/, mac('other')) });
      });

      if (type !== 'github') {
        it('are refused when they are older than five minutes, or from the future', async () => {
          const source = await records.source(verified);
          await expectRefused(source, sign(BODY, nowSeconds() - 6 * MINUTE_S));
          await expectRefused(source, sign(BODY, nowSeconds() + 6 * MINUTE_S));
          await records.accepted(source, BODY, sign(BODY, nowSeconds() - 4 * MINUTE_S));
        });
      }
    });
  }

  it("answer Slack's url_verification with its challenge, once it is verified", async () => {
    const source = await records.source({ verificationConfig: { type: 'slack', secret: SECRET } });
    const body = JSON.stringify({ type: 'url_verification', token: 'x', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3' });
    await expectRefused(source, { 'content-type': 'application/json' }, body);
    const answer = await records.post(source, body, slack(body, nowSeconds()));
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3' });
    expect(await records.storedEvents(source.id)).to.equal(0);
  });

  it('accept any of several v1 signatures of Stripe, but no v0', async () => {
    const source = await records.source({ verificationConfig: { type: 'stripe', secret: SECRET } });
    const time = nowSeconds();
    const right = mac(`${time}.${BODY}`);
    await expectRefused(source, { 'stripe-signature': `t=${time},v0=${right}` });
    await records.accepted(source, BODY, { 'stripe-signature': `t=${time},v1=${mac('old')},v1=${right}` });
  });

  for (const algorithm of ['sha1', 'sha256', 'sha512']) {
    for (const encoding of ['hex', 'base64'] as const) {
      it(`are verified by HMAC ${algorithm} in ${encoding} with a prefix, in any header`, async () => {
        const verificationConfig = {
          type: 'hmac',
          secret: SECRET,
          algorithm,
          encoding,
          header: 'X-Shop-Mac',
          prefix: 'v=',
        };
        const source = await records.source({ verificationConfig });
        const signature = mac(BODY, algorithm, SECRET, encoding);
        await expectRefused(source, { 'x-shop-mac': signature });
        await expectRefused(source, { 'x-shop-mac': `v=${mac(BODY, algorithm, 'other', encoding)}` });
        await records.accepted(source, BODY, { 'x-shop-mac': `v=${signature}` });
      });
    }
  }

  it('are verified by a new secret from the moment it was set', async () => {
    const source = await records.source({ verificationConfig: { type: 'github', secret: SECRET } });
    await records.accepted(source, BODY, github(BODY, 0));
    const secret = `${SECRET}-rotated`;
    await testInstance.client.patch(`${testInstance.base}/sources/${source.id}`, {
      verificationConfig: { type: 'github', secret },
    });
    const rotated = { 'x-hub-signature-256': `sha256=${mac(BODY, 'sha256', secret)}` };
    expect((await records.post(source, BODY, github(BODY, 0))).status).to.equal(401);
    await records.accepted(source, BODY, rotated);
  });

  // A suite of its own: mocha runs it after all of the above.
  describe('of all kinds', () => {
    it('leave no secret, payload or signature in the logs', () => {
      expect(leakedLines(testInstance)).to.deep.equal([]);
      expect(leakedLines(testInstance, mac(BODY))).to.deep.equal([]);
      expect(testInstance.logs(), 'the logs are read at all').to.include('/ingest/');
    });
  });
});
