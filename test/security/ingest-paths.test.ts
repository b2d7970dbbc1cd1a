import { expect } from 'chai';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { onlyRefusal } from '../support/organizations/refusals.ts';
import { useOrganization, useService } from '../support/use-hookyard.ts';

const SECRET = 'a secret of sixteen bytes';
const SIGNED = { verificationConfig: { type: 'github', secret: SECRET } };
// As a token looks, and nobody's.
const STALE = 'A'.repeat(32);

describe('Paths below sources', () => {
  const service = useService('api');
  const organization = useOrganization(() => ({ service }));

  const plain = ({ slug }: { slug: string }) => `/ingest/${organization.slug}/${slug}`;
  const whole = ({ webhookUrl }: SourceRecord) => new URL(webhookUrl).pathname;
  const post = (target: string) => send('POST', `${service.url}${target}`, {}, '{}');
  const statusAt = async (target: string) => (await post(target)).status;

  async function pathAt(target: string): Promise<unknown> {
    const { status, body } = await post(target);
    expect(status, target).to.equal(200);
    return (await organization.api.get(`${organization.base}/events/${body.eventId}`)).path;
  }

  /** As it is written: the URL parser would take the steps of a path. */
  async function raw(path: string): Promise<{ status: number; code: unknown }> {
    const { status, body } = await send('POST', service.url, {}, '{}', path);
    return { status, code: body.code };
  }

  it('are refused like an unknown source, unless the source takes them', async () => {
    const source = await makeSource(organization);
    expect(source).to.include({ allowPaths: false });
    const [there, nowhere] = await Promise.all([
      post(`${plain(source)}/orders/new`),
      post(`${plain({ slug: 'nothing' })}/orders/new`),
    ]);
    expect([there.status, nowhere.status]).to.deep.equal([404, 404]);
    expect(there.body.message).to.include('/orders/new').and.include("set the source's allowPaths to true");
    expect({ ...there.body, message: '' }).to.deep.equal({ ...nowhere.body, message: '' });
    expect(String(nowhere.body.message).replace('nothing', source.slug)).to.equal(there.body.message);
    expect(await onlyRefusal(organization, source)).to.include({ cause: 'path', status: 404 });
    const token = await post(`${plain(source)}/${STALE}/new`);
    expect(token.body.message).to.include('/…/new').and.not.include(STALE);
  });

  it('begin behind the token, which is never taken for a part of them', async () => {
    const required = await makeSource(organization, { allowPaths: true, ingestToken: 'required' });
    expect(await pathAt(`${whole(required)}/a/b`)).to.equal('/a/b');
    expect(await pathAt(whole(required))).to.equal('');
    for (const below of ['', '/a', `/a${whole(required).slice(plain(required).length)}`, `/${STALE}/a`]) {
      expect(await statusAt(plain(required) + below), below).to.equal(404);
    }
    const optional = await makeSource(organization, { allowPaths: true, ingestToken: 'optional' });
    expect(await pathAt(`${whole(optional)}/a/b`)).to.equal('/a/b');
    expect(await pathAt(`${plain(optional)}/a/b`)).to.equal('/a/b');
    // Else a token that was rotated away would be stored, and passed on.
    expect(await statusAt(`${plain(optional)}/${STALE}/a`)).to.equal(404);
    const old = whole(optional);
    await organization.api.post(`${organization.base}/sources/${optional.id}/rotate-token`, { overlapSeconds: 0 });
    expect(await statusAt(old)).to.equal(404);
  });

  it('that a server could read as a step up, or as other parts, are refused', async () => {
    const source = await makeSource(organization, { allowPaths: true });
    // All: test/core/delivery-url.test.ts.
    const wrong = ['/..', '/%252e%252e/b', '/a%2fb', '/a//b'];
    for (const below of wrong) {
      expect(await raw(plain(source) + below), below).to.deep.equal({ status: 400, code: 'INVALID_PATH' });
    }
    expect(await raw(`${plain(source)}/${'a'.repeat(1024)}`)).to.include({ code: 'INVALID_PATH' });
    const { pagination } = await organization.api.list(`${organization.base}/events?sourceId=${source.id}`);
    expect(pagination.total).to.equal(0);
  });

  it('say nothing to those who prove nothing', async () => {
    const source = await makeSource(organization, { ...SIGNED, concealed: true, allowPaths: true });
    for (const below of ['/a', '/..']) expect((await raw(plain(source) + below)).status, below).to.equal(404);
    const open = await makeSource(organization, { ...SIGNED, allowPaths: true });
    for (const below of ['/a', '/..']) expect((await raw(plain(open) + below)).status, below).to.equal(401);
  });
});
