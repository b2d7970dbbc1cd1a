import { expect } from 'chai';
import { createHmac, randomBytes } from 'node:crypto';
import type { Json } from '../support/api-client.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import type { Endpoint } from '../support/receiver.ts';
import { onceMore, type SourceView } from '../support/records.ts';
import { PLANTED } from '../support/attacks/secrecy.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const BODY = '{"order":1}';
const nowSeconds = () => Math.floor(Date.now() / 1000);
const newSecret = () => `${PLANTED}-${randomBytes(16).toString('hex')}`;
const newSigningSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const mac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

/** How a provider of each scheme with a secret signs. */
const SCHEMES: Record<string, { config?: object; sign: (secret: string) => Record<string, string> }> = {
  github: { sign: (secret) => ({ 'x-hub-signature-256': `sha256=${mac(secret, BODY)}` }) },
  stripe: {
    sign: (secret) => {
      const time = nowSeconds();
      return { 'stripe-signature': `t=${time},v1=${mac(secret, `${time}.${BODY}`)}` };
    },
  },
  slack: {
    sign: (secret) => {
      const time = `${nowSeconds()}`;
      return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${mac(secret, `v0:${time}:${BODY}`)}` };
    },
  },
  hmac: { config: { header: 'X-Shop-Mac' }, sign: (secret) => ({ 'x-shop-mac': mac(secret, BODY) }) },
};

describe('rotation of secrets', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** Lets the overlap of a rotation end, or housekeeping take its secret for one that ended long ago. */
  const passed = (table: 'sources' | 'destinations', column: string, id: string, ago: string) =>
    testInstance.pool.query(
      `update ${table} set ${column} = now() - $2::interval, version = version + 1 where id = $1`,
      [id, ago],
    );

  describe('of a source', () => {
    const rotate = (source: SourceView, body: Json) =>
      testInstance.client.request('POST', `${testInstance.base}/sources/${source.id}/rotate-secret`, body);
    const statusOf = async (source: SourceView, headers: Record<string, string>) =>
      (await records.post(source, BODY, { 'content-type': 'application/json', ...headers })).status;

    for (const [type, { config, sign }] of Object.entries(SCHEMES)) {
      it(`takes ${type} webhooks signed with either secret until the overlap ends`, async () => {
        const [old, next] = [newSecret(), newSecret()];
        const source = await records.source({ verificationConfig: { type, secret: old, ...config } });
        expect(await statusOf(source, sign(next))).to.equal(401);
        const answer = await rotate(source, { secret: next, overlapSeconds: 3600 });
        expect(answer.status).to.equal(200);
        expect(Date.parse(String(answer.body.previousSecretUntil)) - Date.now()).to.be.within(3_500_000, 3_601_000);
        expect(JSON.stringify(answer.body)).to.not.include(old).and.not.include(next);
        for (const secret of [old, next]) expect(await statusOf(source, sign(secret))).to.equal(200);
        expect(await statusOf(source, sign(newSecret()))).to.equal(401);

        await passed('sources', 'previous_secret_until', source.id, '1 second');
        expect(await statusOf(source, sign(old))).to.equal(401);
        expect(await statusOf(source, sign(next))).to.equal(200);
        expect(
          (await testInstance.client.get(`${testInstance.base}/sources/${source.id}`)).previousSecretUntil,
        ).to.equal(null);
      });
    }

    const github = SCHEMES.github?.sign ?? (() => ({}));
    async function rotating(overlapSeconds = 3600) {
      const [old, next] = [newSecret(), newSecret()];
      const source = await records.source({ verificationConfig: { type: 'github', secret: old } });
      expect((await rotate(source, { secret: next, overlapSeconds })).status).to.equal(200);
      return { source, old, next };
    }

    it('never brings a secret back that has ended, however often it is repeated', async () => {
      const { source, old, next } = await rotating(0);
      expect((await rotate(source, { secret: next })).status).to.equal(200);
      expect(await statusOf(source, github(old))).to.equal(401);
      expect(await statusOf(source, github(next))).to.equal(200);
    });
  });

  describe('of a destination', () => {
    const rotate = (id: string, body: Json) =>
      testInstance.client.request('POST', `/api/destinations/${id}/rotate-secret`, body);

    /** With which of the secrets the latest request is signed, in the order of its signatures. */
    function signedWith(endpoint: Endpoint, secrets: Record<string, string>): string[] {
      const request = endpoint.requests.at(-1);
      if (!request) throw new Error('no request came');
      const { headers, body } = request;
      const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
      return String(signatures)
        .split(' ')
        .map((signature) => {
          const right = Object.entries(secrets).find(([, secret]) => {
            const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
            return (
              signature === `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`
            );
          });
          return right?.[0] ?? 'nobody knows';
        });
    }

    async function signedPipe(...answers: number[]) {
      const endpoint = receiver.endpoint(...answers, 200);
      const secrets = { old: newSigningSecret(), next: newSigningSecret() };
      const fields = { signingSecret: secrets.old, retryPolicy: onceMore(answers.length) };
      const { source, destination } = await records.pipe(endpoint.url, { destination: fields });
      const deliver = async () => {
        await records.eventWith('delivered', await records.accepted(source, BODY));
        return signedWith(endpoint, secrets);
      };
      return { endpoint, secrets, id: destination.id, deliver };
    }

    it('signs each attempt with both secrets until the overlap ends, the new one first', async () => {
      const { secrets, id, deliver, endpoint } = await signedPipe(503);
      expect(await deliver()).to.deep.equal(['old']);
      const { status, body } = await rotate(id, { secret: secrets.next });
      expect(status).to.equal(200);
      expect(body.signingSecret).to.equal(`••••${secrets.next.slice(-4)}`);
      expect(Date.parse(String(body.previousSigningSecretUntil)) - Date.now()).to.be.within(86_300_000, 86_401_000);
      expect(JSON.stringify(body)).to.not.include(secrets.old).and.not.include(secrets.next);
      expect(await deliver()).to.deep.equal(['next', 'old']);
      expect((await testInstance.client.post(`/api/destinations/${id}/test`, {})).success).to.equal(true);
      expect(signedWith(endpoint, secrets), 'a test').to.deep.equal(['next', 'old']);
      await passed('destinations', 'previous_signing_secret_until', id, '1 second');
      expect(await deliver()).to.deep.equal(['next']);
      const shown = await testInstance.client.get(`${testInstance.base}/destinations/${id}`);
      expect(shown.previousSigningSecretUntil).to.equal(null);
    });

    it('is not in exports, with credentials or without', async () => {
      const { secrets, id } = await signedPipe();
      await rotate(id, { secret: secrets.next });
      for (const includeSensitive of [false, true]) {
        const file = await testInstance.client.get(
          `/api/destinations/export?ids=${id}&includeSensitive=${includeSensitive}`,
        );
        expect(JSON.stringify(file)).to.not.include(secrets.old);
        expect(JSON.stringify(file).includes(secrets.next)).to.equal(includeSensitive);
      }
    });
  });

  it('leaves the old secrets encrypted while they count, and removes them when they do not', async () => {
    const [old, next] = [newSecret(), newSecret()];
    const [oldSigning, nextSigning] = [newSigningSecret(), newSigningSecret()];
    const source = await records.source({ verificationConfig: { type: 'github', secret: old } });
    const { id } = await records.destination('https://crm.example/', { signingSecret: oldSigning });
    await testInstance.client.post(`${testInstance.base}/sources/${source.id}/rotate-secret`, { secret: next });
    await testInstance.client.post(`/api/destinations/${id}/rotate-secret`, { secret: nextSigning });
    const stored = async () => {
      const rows = await selectRows(testInstance.pool)`
        select previous_verification_secret as secret from sources where id = ${source.id}
        union all select previous_signing_secret from destinations where id = ${id}`;
      return rows.map(({ secret }) => secret);
    };
    for (const sealed of await stored()) expect(sealed).to.match(/^v1\./);
    expect(new Set(await stored()).size).to.equal(2);
    await passed('sources', 'previous_secret_until', source.id, '2 hours');
    await passed('destinations', 'previous_signing_secret_until', id, '2 hours');
    await keepHouse(testInstance);
    expect(await stored()).to.deep.equal([null, null]);
  });
});
