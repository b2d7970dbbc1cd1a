// Anyone who sees one signed webhook can try secrets on it at home, as fast as a machine hashes: a short secret falls.
// Senders have what somebody once typed, so it is accepted, and its owner is warned.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { expectInvalid } from '../support/api-client.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const BODY = '{"kind":"order.paid"}';

const signed = (secret: string) => `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`;

describe('Secrets of sources', () => {
  const organization = useOrganization();

  const sources = () => `${organization.base}/sources`;
  const github = (secret: string) => ({ verificationConfig: { type: 'github', secret } });

  const warned = /^verificationConfig\.secret has fewer than 16 characters/;
  const statusOf = async (slug: string, headers: Record<string, string>) => {
    const url = `${organization.api.url}/ingest/${organization.slug}/${slug}`;
    return (await fetch(url, { method: 'POST', headers, body: BODY })).status;
  };

  for (const [config, headers] of [
    [{ type: 'github' }, (secret: string) => ({ 'x-hub-signature-256': signed(secret) })],
    [{ type: 'hmac', header: 'X-S' }, (secret: string) => ({ 'x-s': signed(secret).slice('sha256='.length) })],
    [{ type: 'hmac_template', header: 'X-S' }, (secret: string) => ({ 'x-s': signed(secret).slice('sha256='.length) })],
    [{ type: 'header_token', header: 'X-Token' }, (secret: string) => ({ 'x-token': secret })],
    [{ type: 'basic' }, (secret: string) => ({ authorization: `Basic ${Buffer.from(secret).toString('base64')}` })],
    [{ provider: 'gitlab' }, (secret: string) => ({ 'x-gitlab-token': secret })],
    [
      { provider: 'stripe' },
      (secret: string) => {
        const t = Math.floor(Date.now() / 1000);
        const v1 = createHmac('sha256', secret).update(`${t}.${BODY}`).digest('hex');
        return { 'stripe-signature': `t=${t},v1=${v1}` };
      },
    ],
  ] as const) {
    const name = 'type' in config ? config.type : config.provider;
    const secret = { basic: 'shop:pw', stripe: 'whsec_test_123' }[name as string] ?? 'hunter2';
    const slug = `short-${name.replace('_', '-')}`;

    it(`are accepted below 16 characters, with a warning, however they come (${name})`, async () => {
      const verificationConfig = { ...config, secret };
      const put = await organization.api.request('PUT', `${sources()}/by-slug/${slug}`, {
        ...{ name, verificationConfig },
      });
      expect(put.status, JSON.stringify(put.body)).to.equal(201);
      expect(put.body.warnings)
        .to.have.lengthOf(1)
        .and.satisfy(([text]: string[]) => warned.test(text ?? ''));
      expect(JSON.stringify(put.body)).to.not.include(secret);
      expect(await statusOf(slug, headers(secret))).to.equal(200);
      expect(await statusOf(slug, headers(`${secret}x`))).to.equal(401);
      const path = `${sources()}/${String(put.body.id)}`;
      const [listed] = (await organization.api.list(`${sources()}?search=${slug}`)).data;
      for (const each of [await organization.api.get(path), listed]) expect(each?.warnings).to.have.lengthOf(1);
      const long = `${secret} and many letters more`;
      const rotated = await organization.api.post(`${path}/rotate-secret`, { secret: long });
      expect(rotated.warnings).to.deep.equal([]);
      for (const valid of [secret, long]) expect(await statusOf(slug, headers(valid))).to.equal(200);
      const back = await organization.api.patch<{ warnings: string[] }>(path, { verificationConfig });
      expect(back.warnings).to.have.lengthOf(1);
      expect(
        (await organization.api.post(`${path}/rotate-secret`, { secret: `${secret}!` })).warnings,
      ).to.have.lengthOf(1);
      expect(await statusOf(slug, headers(`${secret}!`))).to.equal(200);
    });
  }

  it('have one character at least, and a key of one byte', async () => {
    for (const [verificationConfig, secret] of [
      [{ type: 'github' }, ''],
      [{ type: 'hmac_template', header: 'X-S', secretEncoding: 'base64' }, 'A'],
      [{ provider: 'standard-webhooks' }, 'whsec_A'],
    ] as const) {
      const body = { name: 'Empty', slug: 'empty', verificationConfig: { ...verificationConfig, secret } };
      expectInvalid(await organization.api.request('POST', sources(), body), 'verificationConfig.secret');
    }
  });

  it('are no reason for a warning from 16 on, where the provider makes them shorter, and where there is none', async () => {
    for (const [slug, fields] of Object.entries({
      sixteen: github('sixteen-bytes-16'),
      dropbox: { provider: 'dropbox', verificationConfig: { secret: 'fifteen-bytes-1' } },
      open: {},
    })) {
      const made = await organization.api.create<{ warnings: string[] }>(sources(), { name: 'S', slug, ...fields });
      expect(made.warnings, slug).to.deep.equal([]);
    }
  });
});
