import { expect } from 'chai';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import {
  type DescribedSigner,
  describedSigners,
  JWKS_ADDRESS,
  keySetOf,
} from '../support/providers/described-signers.ts';
import { send } from '../support/requests/http-client.ts';
import { startKeyServer } from '../support/providers/key-server.ts';
import type { Accepted } from '../support/records.ts';
import { createOrganization, startService, testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useOrganization, useStarted } from '../support/use-hookyard.ts';
import { selectRows, selectValue } from '../support/database/sql.ts';

const BODY = Buffer.from('{"order":{"id":1042}}');

describe('sources with a scheme that their owner describes', () => {
  const keyServer = useStarted(startKeyServer);
  const service = useStarted(() => startService('api', { HOOKYARD_PROVIDER_KEYS_URL: keyServer.url }));
  const organization = useOrganization(() => ({ service }));

  const path = ({ id }: SourceRecord) => `${organization.base}/sources/${id}`;
  const configOf = ({ config }: DescribedSigner, secret: string | undefined): Json => ({
    ...config,
    ...(secret !== undefined && { secret }),
  });
  const signerOf = (name: string) => describedSigners[name] as DescribedSigner;

  /** What the sender sends, and the answer to it. */
  async function receive(source: SourceRecord, signer: DescribedSigner, key: string | KeyObject) {
    const sent = signer.sign({ body: BODY, nowMs: Date.now(), url: source.webhookUrl }, key);
    const { pathname } = new URL(source.webhookUrl);
    const url = `${service.url}${pathname}${sent.query === undefined ? '' : `?${sent.query}`}`;
    return send<Accepted & { code?: string }>('POST', url, sent.headers, sent.body ?? BODY);
  }
  const storedText = (eventId: string) =>
    selectValue<string>(testPool())`select row_to_json(e)::text as row from events e where id = ${eventId}`;

  for (const [name, signer] of Object.entries(describedSigners)) {
    it(`take what is genuine of ${signer.config.type} (${name}), and refuse all else`, async () => {
      const { secret, key } = signer.secret();
      if (secret === undefined)
        keyServer.documents.set(JWKS_ADDRESS, () => ({ body: keySetOf(createPublicKey(key as KeyObject)) }));
      const source = await makeSource(organization, { verificationConfig: configOf(signer, secret) });
      const answer = await until('it to be taken', async () => {
        const each = await receive(source, signer, key);
        return each.status === 200 && each;
      });
      const forged = await receive(source, signer, signer.secret().key);
      expect([forged.status, forged.body.code]).to.deep.equal([401, 'INVALID_SIGNATURE']);

      const shown = await organization.api.get<{ verificationConfig: Json }>(path(source));
      expect(shown.verificationConfig).to.deep.include(signer.config).and.not.have.property('secret');
      if (secret === undefined) return;
      expect(JSON.stringify(shown)).to.not.include(secret);
      const rows = await selectRows<{ row: string }>(testPool())`select row_to_json(s)::text as row from sources s
        where id = ${source.id}`;
      expect(rows[0]?.row).to.not.include(secret);
      // A token proves nothing but who sends, so anyone who reads the event must not have it.
      if (signer.covers === 'nothing' && signer.config.type !== 'body_token') {
        const stored = await storedText(answer.body.eventId);
        for (const text of [secret, Buffer.from(secret).toString('base64')]) expect(stored).to.not.include(text);
      }
    });
  }

  it('know a repeat by the signature, where there is one of the body', async () => {
    const idempotencyKey = { signature: true, windowSeconds: 300 };
    const signer = signerOf('ECDSA as two numbers in base64url');
    const { secret, key } = signer.secret();
    const source = await makeSource(organization, { verificationConfig: configOf(signer, secret), idempotencyKey });
    const first = await receive(source, signer, key);
    // ECDSA signs the same in another way each time.
    expect((await receive(source, signer, key)).body).to.deep.equal({ ...first.body, duplicate: true });
    for (const name of [
      'a token in a header',
      'user and password',
      'a token in JSON',
      'a JSON Web Token by a published key',
    ]) {
      const token = signerOf(name);
      const verificationConfig = configOf(token, token.secret().secret);
      const refused = await organization.api.request('POST', `${organization.base}/sources`, {
        ...{ name: 'Refused', slug: 'refused', verificationConfig, idempotencyKey },
      });
      expectInvalid(refused, 'idempotencyKey.signature');
    }
  });

  it('store nothing while keys cannot be fetched, and ask no address that the guard refuses', async () => {
    const signer = signerOf('a JSON Web Token by a published key');
    const { key } = signer.secret();
    keyServer.documents.delete(JWKS_ADDRESS);
    const jwksUrl = `https://${JWKS_ADDRESS}/away`;
    const source = await makeSource(organization, { verificationConfig: { ...signer.config, jwksUrl } });
    const { status, body } = await receive(source, signer, key);
    expect([status, body.code]).to.deep.equal([503, 'UNAVAILABLE']);
    // Without the server in their place the addresses are those of the owner.
    const plain = await startService('api');
    try {
      const other = await createOrganization({ service: plain });
      const inside = { ...signer.config, jwksUrl: 'https://169.254.169.254/latest' };
      const hidden = await makeSource(other, { verificationConfig: inside });
      const { headers } = signer.sign({ body: BODY, nowMs: Date.now(), url: hidden.webhookUrl }, key);
      const answer = await send<Json>('POST', plain.url + new URL(hidden.webhookUrl).pathname, headers, BODY);
      expect([answer.status, answer.body.code]).to.deep.equal([503, 'UNAVAILABLE']);
      expect(answer.body.message).to.include('no response');
    } finally {
      await plain.stop();
    }
  });
});
