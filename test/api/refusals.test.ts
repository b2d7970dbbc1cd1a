// Webhooks that were refused, as their organization is told of them. Each cause: refusal-causes.test.ts.
import { expect } from 'chai';
import { REFUSAL_CAUSES } from '../../core/ingest/refusals.ts';
import { expectError, expectInvalid } from '../support/api-client.ts';
import { clientWith, makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import {
  onlyRefusal,
  type RefusalsView,
  type RefusalView,
  refusalsOf,
  refusalsPath,
} from '../support/organizations/refusals.ts';
import { useHookyard, useOrganization } from '../support/use-hookyard.ts';

const MAX_PAYLOAD = 5000;
const SECRET = 'a secret of sixteen bytes';
const GITHUB = { verificationConfig: { type: 'github', secret: SECRET } };
const WRONG = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
const JSON_TYPE = { 'content-type': 'application/json' };

describe('Refused webhooks', () => {
  const { testInstance } = useHookyard({ settings: { HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD) } });
  // Without a worker: nothing is delivered.
  const organization = useOrganization(() => ({ service: testInstance.api, pool: testInstance.pool }));
  const pathOf = (source: { id: string }) => refusalsPath(organization, source);
  const here = ({ webhookUrl }: SourceRecord) => testInstance.api.url + new URL(webhookUrl).pathname;
  const addressOf = (slug: string) => `${testInstance.api.url}/ingest/${organization.slug}/${slug}`;
  const post = (url: string, headers: Record<string, string> = {}, body: string | Buffer = '{}') =>
    send('POST', url, { ...JSON_TYPE, ...headers }, body);

  it('to sources that do not exist are not kept at all', async () => {
    const known = await makeSource(organization, GITHUB);
    const before = await stored();
    const unknown = ['nothing-here', `${known.slug}-x`, 'Not_A_Slug'];
    for (const slug of unknown) expect((await post(addressOf(slug))).status).to.equal(404);
    expect((await post(`${testInstance.api.url}/ingest/nobody/${known.slug}`)).status).to.equal(404);
    expect((await post(here(known), WRONG)).status).to.equal(401);
    await onlyRefusal(organization, known);
    expect(await stored()).to.deep.equal(before.map((count) => count + 1));
  });
  async function stored(): Promise<number[]> {
    const { rows } = await testInstance.pool.query<{ webhooks: number; counts: number }>(
      'select (select count(*) from refused_webhooks) as webhooks, (select count(*) from refusal_counts) as counts',
    );
    return Object.values(rows[0] ?? {});
  }

  it('have masked secrets, whatever the names of their headers', async () => {
    const source = await makeSource(organization, {
      ingestToken: 'required',
      verificationConfig: { type: 'hmac', secret: SECRET, header: 'X-Proof' },
    });
    const token = source.webhookUrl.split('/').at(-1) ?? '';
    const { pathname } = new URL(source.webhookUrl);
    const secrets = { authorization: 'Bearer of-somebody', cookie: 'of-somebody', 'x-proof': 'of-somebody' };
    await post(here(source), { ...secrets, 'x-original-uri': pathname, 'x-long': 'x'.repeat(5000) });
    const { headers } = await onlyRefusal(organization, source);
    expect(headers).to.include({
      ...{ authorization: '••••', cookie: '••••', 'x-proof': '••••' },
      'x-original-uri': pathname.replace(token, '••••'),
    });
    expect(headers['x-long']).to.have.length(513);
    const { rows } = await testInstance.pool.query<{ row: string }>(
      'select row_to_json(r)::text as row from refused_webhooks r where source_id = $1',
      [source.id],
    );
    expect(rows[0]?.row).to.include('x-original-uri').and.not.include(token).and.not.include('of-somebody');
  });

  it('show the first KiB of a payload as text, or in base64', async () => {
    const source = await makeSource(organization, GITHUB);
    const text = `x${'ä'.repeat(1000)}`;
    const bytes = Buffer.from([0xff, 0, 0x80]);
    await post(here(source), WRONG, text);
    await post(here(source), WRONG, bytes);
    const { data } = await refusalsOf(organization, source, 2, '?includePayload=true');
    expect(data[1]).to.include({ payloadSize: 2001, payloadStart: `x${'ä'.repeat(511)}` });
    expect(data[1]).to.not.have.property('payloadEncoding');
    expect(data[0]).to.include({
      ...{ payloadSize: 3, payloadStart: bytes.toString('base64'), payloadEncoding: 'base64' },
    });
  });

  it('are listed newest first, by cause, with counts of the period by hour or day', async () => {
    const source = await makeSource(organization, GITHUB);
    const sent: number[] = [];
    for (let n = 1; n <= 5; n += 1) sent.push((await post(here(source), WRONG, 'x'.repeat(n))).status);
    await post(here(source), {}, 'x'.repeat(MAX_PAYLOAD + 1));
    expect(sent).to.deep.equal([401, 401, 401, 401, 401]);
    const all = await refusalsOf(organization, source, 6);
    expect(all.data.map(({ payloadSize }) => payloadSize)).to.deep.equal([MAX_PAYLOAD + 1, 5, 4, 3, 2, 1]);
    const { counts } = all;
    expect(counts.period).to.equal('24h');
    expect(counts.causes.map(({ cause, count }) => [cause, count])).to.deep.equal([
      ['signature', 5],
      ['too_large', 1],
    ]);
    const byDay = await organization.api.get<RefusalsView>(`${pathOf(source)}?period=7d&cause=too_large`);
    expect(byDay.data.map(({ cause }) => cause)).to.deep.equal(['too_large']);
    expect(byDay.pagination.total).to.equal(1);
    expect(byDay.counts.total, 'the counts are of all causes').to.equal(6);
    for (const [shown, step] of [
      [counts, 'T\\d\\d:00:00.000Z$'],
      [byDay.counts, 'T00:00:00.000Z$'],
    ] as const) {
      expect(shown.steps.reduce((sum, { count }) => sum + Number(count), 0)).to.equal(6);
      for (const { start } of shown.steps) expect(start).to.match(new RegExp(step));
      expect(shown.since).to.match(new RegExp(step));
    }
    const second = await organization.api.get<RefusalsView>(`${pathOf(source)}?page=2&pageSize=4`);
    expect(second.data.map(({ id }) => id)).to.deep.equal(all.data.slice(4).map(({ id }) => id));
    expect(second.pagination.total).to.equal(6);
  });

  it('take only the causes and periods that there are', async () => {
    const source = await makeSource(organization);
    for (const query of ['cause=weather', 'period=1y', 'includePayload=yes'])
      expectInvalid(await organization.api.request('GET', `${pathOf(source)}?${query}`), query.split('=')[0] ?? '');
    for (const cause of REFUSAL_CAUSES) await organization.api.get(`${pathOf(source)}?cause=${cause}`);
  });

  it('are for keys that may read events, and their payloads for those that may read payloads, on record', async () => {
    const source = await makeSource(organization, GITHUB);
    await post(here(source), WRONG);
    // Each look at payloads would be on record.
    await refusalsOf(organization, source, 1);
    const withPayload = `${pathOf(source)}?includePayload=true`;
    const events = await clientWith(organization, 'events:read');
    const [refusal] = (await events.list<RefusalView>(pathOf(source))).data;
    expect(refusal).to.include({ cause: 'signature' }).and.not.have.any.keys('payloadStart', 'payloadEncoding');
    expectError(await events.request('GET', withPayload), 403, 'FORBIDDEN', /"payloads:read"/);
    for (const scopes of [['events:read', 'payloads:read'], ['read']]) {
      const key = await clientWith(organization, ...scopes);
      expect((await key.list<RefusalView>(withPayload)).data[0]).to.include({ payloadStart: '{}' });
    }
    const { data } = await organization.api.list(`/api/audit?action=listRefusals&recordId=${source.id}`);
    expect(data.map(({ outcome }) => outcome)).to.deep.equal(['done', 'done']);
  });
});
