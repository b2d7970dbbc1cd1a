import { expect } from 'chai';
import { forwardableHeaders, isNeverForwarded } from '../../core/ingest/forwarded-headers.ts';
import { providerNamed, providers } from '../../providers/index.ts';
import { signers } from '../support/providers/provider-signers.ts';

describe('forwardableHeaders', () => {
  it('keeps what describes the webhook and drops what belongs to the connection, to proxies and to this service', () => {
    const received = {
      host: 'hooks.example.com',
      connection: 'close, X-Private , TE',
      'x-private': '1',
      te: 'trailers',
      'keep-alive': 'timeout=5',
      'transfer-encoding': 'chunked',
      'content-length': '12',
      'proxy-connection': 'keep-alive',
      upgrade: 'h2c',
      expect: '100-continue',
      cookie: 'a=b',
      authorization: 'Basic abc',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'X-Forwarded-Proto': 'https',
      'accept-encoding': 'gzip',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'user-agent': 'GitHub-Hookshot/abc',
      accept: '*/*',
      'x-github-event': 'push',
      'x-hub-signature-256': 'sha256=abc',
    };
    expect(forwardableHeaders(received, null)).to.deep.equal({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'user-agent': 'GitHub-Hookshot/abc',
      accept: '*/*',
      'x-github-event': 'push',
      'x-hub-signature-256': 'sha256=abc',
    });
  });

  it('takes an ordinary Connection header for no list of names', () => {
    expect(forwardableHeaders({ Connection: 'Keep-Alive', close: 'x' }, null)).to.deep.equal({ close: 'x' });
  });

  // One or more of each kind, in the spellings in which servers read them.
  const steering = [
    ...[
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
      'X-Original-URL',
      'X-Rewrite-URL',
      'X-Original-Host',
    ],
    ...['X-Real-IP', 'True-Client-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'CF-Connecting-IP', 'Fastly-Client-IP'],
    ...['X-Forwarded-For', 'X-Forwarded-User', 'X-Forwarded-Host', 'Forwarded', 'X-Remote-User', 'Remote-User'],
    ...['X-Amzn-Oidc-Identity', 'X-Amzn-Oidc-Data', 'X-Goog-Authenticated-User-Email', 'X-Goog-IAP-JWT-Assertion'],
    ...['X-MS-CLIENT-PRINCIPAL', 'X-MS-CLIENT-PRINCIPAL-NAME', 'X-WEBAUTH-USER', 'X-Auth-Request-Email'],
    ...['Cf-Access-Jwt-Assertion', 'Cf-Access-Authenticated-User-Email', 'X-Middleware-Subrequest', 'X-Accel-Mapping'],
    ...['X-Sendfile-Type', 'X-Envoy-Original-Path', 'SSL-Client-Verify', 'X-Consumer-Username', 'OIDC_CLAIM_email'],
    ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    ...['Fly-Client-IP', 'DO-Connecting-IP', 'X-Nf-Client-Connection-IP', 'X-Vercel-Forwarded-For', 'X-Vercel-IP-City'],
    ...['X-Vercel-OIDC-Token', 'X-Azure-FDID', 'X-Appengine-User-Email', 'X-Appengine-Inbound-Appid'],
    ...['X-Appengine-Cron', 'X-Userinfo', 'X-Id-Token', 'X-Access-Token', 'X-Auth-Email', 'X-Auth-Userid'],
    ...['X-Auth-Username', 'X-Auth-Groups', 'X-Auth-Roles', 'X-Auth-Subject', 'X-Auth-Request-User'],
    ...['Teleport-Jwt-Assertion', 'Shib-Session-ID', 'Shib-Identity-Provider', 'Impersonate-User', 'Impersonate-Group'],
    ...['X-Matched-Path', 'X-Invoke-Path', 'X-Invoke-Query', 'X-Remote-Name', 'X-Remote-Email', 'X-Remote-Groups'],
    ...['X-Remote-IP', 'X-Remote-Addr', 'X-Remote-Extra-Scopes'],
  ];

  it('keeps what providers send that looks like one of those', () => {
    const received = {
      'x-vercel-signature': 'a signature',
      'x-auth-token': 'a token of a program of one’s own',
      'x-appengine': '1',
      'x-gitlab-token': 'a token',
      'x-zm-signature': 'v0=1',
      'x-webhook-id': '1',
      'i-twilio-idempotency-token': '1',
    };
    expect(forwardableHeaders(received, null)).to.deep.equal(received);
  });
  for (const name of steering) {
    const spellings = [name, name.toLowerCase(), name.replaceAll('-', '_')];
    it(`drops ${name}, also with underscores, unless a destination asks for it`, () => {
      for (const spelling of spellings) {
        const received = { [spelling]: '1' };
        expect(forwardableHeaders(received, null), spelling).to.deep.equal({});
        expect(forwardableHeaders(received, 'all'), spelling).to.deep.equal(received);
        expect(forwardableHeaders(received, [spelling.toUpperCase()]), spelling).to.deep.equal(received);
        expect(forwardableHeaders(received, ['X-Other']), spelling).to.deep.equal({});
      }
      expect(isNeverForwarded(name)).to.equal(false);
    });
  }

  it('keeps what every provider of the registry signs with and names its events by', async () => {
    const sent = await Promise.all(
      Object.entries(signers).map(([name, signer]) => {
        const [sample] = providerNamed(name)?.samples ?? [];
        const body = Buffer.from(signer.body ?? JSON.stringify(sample?.body ?? {}));
        return signer.sign({ body, nowMs: Date.now(), url: 'https://hooks.example/ingest/a/b' }, signer.secret().key);
      }),
    );
    const samples = providers.flatMap((provider) => provider.samples);
    const names = [...sent, ...samples].flatMap(({ headers = {} }) => Object.keys(headers));
    // Credentials are for Hookyard, and it signs with Standard Webhooks itself.
    const travelling = names.filter((name) => !/^(?:authorization|webhook-.*)$/i.test(name));
    expect(travelling).to.have.length.above(50);
    for (const name of travelling)
      expect(forwardableHeaders({ [name]: '1' }, null), name).to.deep.equal({ [name]: '1' });
  });

  for (const name of ['Authorization', 'Cookie', 'Host', 'Content-Length', 'Proxy-Authorization', 'X-Hookyard-Hops']) {
    it(`never forwards ${name}, whatever a destination asks for`, () => {
      expect(isNeverForwarded(name)).to.equal(true);
      for (const spelling of [name, name.toLowerCase(), name.replaceAll('-', '_')]) {
        for (const choice of [null, 'all', 'none', [spelling]] as const) {
          expect(forwardableHeaders({ [spelling]: '1' }, choice), spelling).to.deep.equal({});
        }
      }
    });
  }

  it('forwards the headers that were chosen, and what the body cannot be read without', () => {
    const received = {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-github-event': 'push',
      'x-github-delivery': '1',
      connection: 'x-github-delivery',
    };
    const { 'content-type': type, 'content-encoding': encoding } = received;
    const body = { 'content-type': type, 'content-encoding': encoding };
    expect(forwardableHeaders(received, 'none')).to.deep.equal(body);
    expect(forwardableHeaders(received, [])).to.deep.equal(body);
    const chosen = ['X-GitHub-Event', 'X-GitHub-Delivery', 'X-Not-There'];
    expect(forwardableHeaders(received, chosen)).to.deep.equal({ ...body, 'x-github-event': 'push' });
  });
});
