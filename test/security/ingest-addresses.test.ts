// What a stranger learns of ingest addresses: nothing of sources with a token, or concealed ones. And captured requests
// that are sent again.
import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { expectError } from '../support/api-client.ts';
import { clientWith, makeSource, type SourceRecord } from '../support/api-records.ts';
import { type HttpAnswer, send } from '../support/requests/http-client.ts';
import { testPool } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openConnection } from './raw-connection.ts';
import { useOrganization, useService } from '../support/use-hookyard.ts';

const SECRET = 'a secret of sixteen bytes';
const BODY = '{"order":42}';
const MAX_PAYLOAD = 100_000;
// What has reached the server's machine is read before it has answered so many others.
const TURNS = 50;
const GITHUB = { verificationConfig: { type: 'github', secret: SECRET } };

const hmac = (text: string, algorithm = 'sha256') => createHmac(algorithm, SECRET).update(text).digest('hex');
const signed = (body = BODY) => ({ 'x-hub-signature-256': `sha256=${hmac(body)}` });

describe('Ingest addresses', () => {
  const service = useService('api', { HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD) });
  const organization = useOrganization(() => ({ service }));

  const post = (url: string, headers: Record<string, string> = {}, body: string | Buffer = BODY) =>
    send('POST', url, headers, body);
  const statusAt = async (url: string, headers?: Record<string, string>) => (await post(url, headers)).status;
  const sourcePath = ({ id }: SourceRecord) => `${organization.base}/sources/${id}`;
  const plainAddress = ({ slug }: SourceRecord) => `${service.url}/ingest/${organization.slug}/${slug}`;
  const tokenOf = ({ webhookUrl }: SourceRecord) => webhookUrl.split('/').at(-1) ?? '';
  const here = ({ webhookUrl }: SourceRecord) => service.url + new URL(webhookUrl).pathname;
  const disable = (source: SourceRecord) => organization.api.patch(sourcePath(source), { enabled: false });
  const eventsOf = async ({ id }: SourceRecord) =>
    (await organization.api.list(`${organization.base}/events?sourceId=${id}`)).pagination.total;

  /** All that an answer shows, without what differs from request to request. */
  function seen({ status, headers, body }: HttpAnswer, address: string) {
    const { date: _date, 'x-request-id': _id, 'content-length': _length, ...others } = headers;
    const slug = new URL(address).pathname.split('/')[3] ?? '';
    return { status, headers: others, body: JSON.parse(JSON.stringify(body).replaceAll(slug, '<source>')) as unknown };
  }

  /** What a stranger sees of a source that does not exist. */
  async function unknown(headers?: Record<string, string>, suffix = '', body?: Buffer) {
    const address = `${service.url}/ingest/${organization.slug}/unknown-${randomBytes(4).toString('hex')}${suffix}`;
    return seen(await post(address, headers, body), address);
  }

  describe('with a token', () => {
    it('take a webhook only with it, and look to others as if there were nothing', async () => {
      const source = await makeSource(organization, { ingestToken: 'required' });
      expect(tokenOf(source)).to.match(/^[\w-]{32}$/);
      expect(await statusAt(here(source))).to.equal(200);
      const other = await makeSource(organization, { ingestToken: 'required' });
      const wrong = `/${tokenOf(other)}`;
      const looksAbsent = async () => {
        for (const suffix of ['', wrong, '/x']) {
          const nothing = await unknown({}, suffix);
          expect(nothing.status).to.equal(404);
          const address = plainAddress(source) + suffix;
          expect(seen(await post(address), address), suffix).to.deep.equal(nothing);
        }
      };
      await looksAbsent();
      await disable(source);
      await looksAbsent();
      expect((await post(here(source))).body).to.include({ code: 'SOURCE_DISABLED' });
      expect(await eventsOf(source)).to.equal(1);
    });

    it('show it to keys that may write sources or see secrets, and masked to those that only read', async () => {
      const source = await makeSource(organization, { ingestToken: 'required' });
      const seenBy = async (...scopes: string[]) => {
        const client = await clientWith(organization, ...scopes);
        const { data } = await client.list<SourceRecord>(`${organization.base}/sources`);
        const { webhookUrl } = await client.get<SourceRecord>(sourcePath(source));
        expect(data.find(({ id }) => id === source.id)?.webhookUrl).to.equal(webhookUrl);
        return webhookUrl;
      };
      const masked = `${source.webhookUrl.slice(0, -32)}••••${tokenOf(source).slice(-4)}`;
      expect(await seenBy('read')).to.equal(masked);
      expect(await seenBy('sources:read')).to.equal(masked);
      expect(await seenBy('sources:read', 'sources:write')).to.equal(source.webhookUrl);
      expect(await seenBy('sources:read', 'secrets:read')).to.equal(source.webhookUrl);
      expect(await seenBy('read', 'write')).to.equal(source.webhookUrl);
      const open = await makeSource(organization);
      expect((await organization.api.get<SourceRecord>(sourcePath(open))).webhookUrl).to.match(/\/[^/•]+$/);
    });

    it('take no token that the source did not ask for', async () => {
      const source = await makeSource(organization);
      expect(await statusAt(`${plainAddress(source)}/x`)).to.equal(404);
      expect(await statusAt(plainAddress(source))).to.equal(200);
    });

    it('are both valid while the provider is moved, and only the later one afterwards', async () => {
      const source = await makeSource(organization);
      const optional = await organization.api.patch<SourceRecord>(sourcePath(source), { ingestToken: 'optional' });
      expect([await statusAt(plainAddress(source)), await statusAt(here(optional))]).to.deep.equal([200, 200]);
      const required = await organization.api.patch<SourceRecord>(sourcePath(source), { ingestToken: 'required' });
      expect(required.webhookUrl).to.equal(optional.webhookUrl);
      expect([await statusAt(plainAddress(source)), await statusAt(here(required))]).to.deep.equal([404, 200]);

      const rotate = (body?: object) =>
        organization.api.post<SourceRecord & { previousTokenUntil: string | null }>(
          `${sourcePath(source)}/rotate-token`,
          body,
        );
      const second = await rotate();
      expect(Date.parse(second.previousTokenUntil ?? '')).to.be.above(Date.now() + 80_000_000);
      expect(tokenOf(second)).to.not.equal(tokenOf(required));
      expect([await statusAt(here(required)), await statusAt(here(second))]).to.deep.equal([200, 200]);
      const third = await rotate({ overlapSeconds: 1 });
      expect(await statusAt(here(required))).to.equal(404);
      await until('the second to expire', async () => (await statusAt(here(second))) === 404);
      expect(await statusAt(here(third))).to.equal(200);
      const fourth = await rotate({ overlapSeconds: 0 });
      expect([await statusAt(here(third)), await statusAt(here(fourth))]).to.deep.equal([404, 200]);
      expect(fourth.previousTokenUntil).to.equal(null);

      const none = await organization.api.patch<SourceRecord>(sourcePath(source), { ingestToken: 'none' });
      expect(here(none)).to.equal(plainAddress(source));
      expect([await statusAt(here(fourth)), await statusAt(here(none))]).to.deep.equal([404, 200]);
      const refused = await organization.api.request('POST', `${sourcePath(source)}/rotate-token`);
      expectError(refused, 409, 'INVALID_STATE', /ingestToken/);
    });

    it('keep it out of logs, and encrypted in PostgreSQL', async () => {
      const source = await makeSource(organization, { ingestToken: 'required' });
      expect(await statusAt(here(source))).to.equal(200);
      await until('the line in the log', () => service.output().includes(`/${source.slug}/****`));
      expect(service.output()).to.not.include(tokenOf(source));
      const { rows } = await testPool().query<{ row: string }>(
        'select row_to_json(s)::text as row from sources s where id = $1',
        [source.id],
      );
      expect(rows[0]?.row).to.include('"ingest_token":"required"').and.not.include(tokenOf(source));
    });
  });

  describe('that verify signatures', () => {
    it('do not tell whether they are disabled', async () => {
      const [open, closed] = [await makeSource(organization, GITHUB), await makeSource(organization, GITHUB)];
      await disable(closed);
      for (const headers of [{}, signed('another'), { 'x-hub-signature-256': 'x' }]) {
        const answer = await post(here(open), headers);
        expect(answer.status).to.equal(401);
        expect(seen(await post(here(closed), headers), here(closed))).to.deep.equal(seen(answer, here(open)));
      }
      expect((await post(here(closed), signed())).body).to.include({ code: 'SOURCE_DISABLED' });
    });

    it('look as if there were nothing when they are concealed', async () => {
      const concealed = { ...GITHUB, concealed: true };
      const [open, closed] = [await makeSource(organization, concealed), await makeSource(organization, concealed)];
      await disable(closed);
      for (const headers of [{}, signed('another'), { 'x-hub-signature-256': 'x' }]) {
        const nothing = await unknown(headers);
        expect(nothing.status).to.equal(404);
        for (const source of [open, closed])
          expect(seen(await post(here(source), headers), here(source))).to.deep.equal(nothing);
      }
      expect(await statusAt(here(open), signed())).to.equal(200);
      expect((await post(here(closed), signed())).body).to.include({ code: 'SOURCE_DISABLED' });
      // A body that is too large, whether there is something or not.
      const large = Buffer.alloc(MAX_PAYLOAD + 1);
      const nothing = await unknown({}, '', large);
      expect(nothing.status).to.equal(413);
      expect(seen(await post(here(open), {}, large), here(open))).to.deep.equal(nothing);
    });

    it('are answered like unknown ones after the body, not before it', async () => {
      const source = await makeSource(organization, { ...GITHUB, concealed: true });
      const token = await makeSource(organization, { ingestToken: 'required' });
      for (const address of [here(source), plainAddress(token), `${plainAddress(source)}-unknown`]) {
        const connection = await openConnection(Number(new URL(service.url).port));
        const head = `POST ${new URL(address).pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n`;
        await new Promise((resolve) => connection.socket.write(`${head}12`, resolve));
        for (let turn = 0; turn < TURNS; turn += 1) await send('GET', `${service.url}/healthz`);
        expect(connection.answers(), address).to.deep.equal([]);
        connection.socket.write('3');
        const answer = await until('the answer', () => connection.answers()[0]);
        expect(answer.status).to.equal(404);
        connection.socket.destroy();
      }
    });

    it('are found as soon as they are there, though someone has asked for them before', async () => {
      const slug = `later-${randomBytes(4).toString('hex')}`;
      expect(await statusAt(`${service.url}/ingest/${organization.slug}/${slug}`)).to.equal(404);
      const source = await makeSource(organization, { slug });
      expect(await statusAt(here(source))).to.equal(200);
    });
  });

  describe('to which a captured request is sent again', () => {
    const bySignature = { idempotencyKey: { signature: true, windowSeconds: 600 } };

    it('store it once, however it is written', async () => {
      const source = await makeSource(organization, { ...GITHUB, ...bySignature });
      const first = await post(here(source), signed());
      expect(first.status).to.equal(200);
      const upper = { 'x-hub-signature-256': `sha256=${hmac(BODY).toUpperCase()}`, 'x-github-delivery': 'another' };
      for (const headers of [signed(), upper]) {
        const repeat = await post(`${here(source)}?again=1`, headers);
        expect(repeat.body).to.deep.equal({ success: true, eventId: first.body.eventId, duplicate: true });
      }
      expect(await statusAt(here(source), signed('other'))).to.equal(401);
      expect((await post(here(source), signed('other'), 'other')).body).to.not.have.property('duplicate');
      expect(await eventsOf(source)).to.equal(2);
    });

    it('store it once where several signatures are allowed', async () => {
      const source = await makeSource(organization, {
        verificationConfig: { type: 'stripe', secret: SECRET },
        ...bySignature,
      });
      const t = Math.floor(Date.now() / 1000);
      const v1 = `v1=${hmac(`${t}.${BODY}`)}`;
      const ways = [`t=${t},${v1}`, `t=${t},v1=${'0'.repeat(64)},${v1}`, `${v1}, t=${t}`];
      for (const header of ways) expect(await statusAt(here(source), { 'stripe-signature': header })).to.equal(200);
      expect(await eventsOf(source)).to.equal(1);
    });
  });
});
