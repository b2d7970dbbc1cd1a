import { expect } from 'chai';
import { makePipeline } from '../support/api-records.ts';
import { commandLine, useCommandLine } from '../support/programs/cli.ts';
import { testPool } from '../support/service.ts';
import { late } from '../support/use-hookyard.ts';

interface Shown {
  id: string;
  slug: string;
  plan: string;
  status: string;
  limits: Record<string, number | null>;
}

interface Recorded {
  actor: string;
  action: string;
  userAgent: string;
}

describe('hookyard orgs', () => {
  const { organization, fails } = useCommandLine();
  // An operator needs no key.
  const cli = late(() => commandLine({ api: organization.api, token: '' }));

  const shown = async () => (await cli.json<Shown[]>('orgs', 'list')).find(({ id }) => id === organization.id);
  const version = async () => {
    const { rows } = await testPool().query<{ version: number }>(
      'select config_version as version from organizations where id = $1',
      [organization.id],
    );
    return rows[0]?.version ?? 0;
  };

  it('lists them', async () => {
    expect(await shown()).to.include({ slug: organization.slug, plan: 'business', status: 'active' });
    expect(await cli.ok('orgs', 'list')).to.match(
      new RegExp(`${organization.slug} .*${organization.id} +business +active +plan default`),
    );
  });

  it('suspends and resumes one, by slug or id, as often as it is asked to', async () => {
    expect(await cli.ok('orgs', 'suspend', organization.slug)).to.match(
      /has been suspended\. Its webhooks are refused now/,
    );
    expect(await cli.ok('orgs', 'suspend', organization.id)).to.match(/is already suspended/);
    expect(await shown()).to.include({ status: 'suspended' });
    const refused = await organization.api.request('POST', '/api/destinations', {});
    expect(refused.body.code).to.equal('ORGANIZATION_SUSPENDED');
    expect(await cli.ok('orgs', 'resume', organization.slug)).to.match(/has been resumed/);
    expect(await cli.ok('orgs', 'resume', organization.slug)).to.match(/is not suspended/);
    expect(await shown()).to.include({ status: 'active' });
    await makePipeline(organization);
  });

  it('sets plan and limits, which every process then reads again', async () => {
    const before = await version();
    await cli.ok('orgs', 'set-plan', organization.slug, 'free');
    await cli.ok('orgs', 'set-limit', organization.slug, 'sources', '7');
    await cli.ok('orgs', 'set-limit', organization.slug, 'destinations', 'none');
    expect(await shown()).to.deep.include({ plan: 'free', limits: { sources: 7, destinations: null } });
    expect(await version()).to.equal(before + 3);
    await cli.ok('orgs', 'set-limit', organization.slug, 'destinations', 'default');
    expect(await shown()).to.deep.include({ limits: { sources: 7 } });
    expect(await cli.ok('orgs', 'list')).to.match(new RegExp(`${organization.slug} .* free +active +sources 7`));
    await fails(2, /gold/, 'orgs', 'set-plan', organization.slug, 'gold');
    await fails(2, /fish/, 'orgs', 'set-limit', organization.slug, 'fish', '1');
    for (const wrong of ['1.5', 'much', '1e3'])
      await fails(2, /whole number/, 'orgs', 'set-limit', organization.slug, 'sources', wrong);
    expect(await shown()).to.deep.include({ limits: { sources: 7 } });
  });

  it('writes what it does into the audit log, with names of limits and without values', async () => {
    const { body } = await organization.api.request<{ data: Recorded[] }>('GET', '/api/audit?pageSize=100');
    const ofOperator = body.data.filter(({ actor }) => actor === 'operator');
    const actions = ofOperator.map(({ action }) => action);
    expect(actions).to.include.members(['suspendOrganization', 'resumeOrganization', 'setPlan']);
    const limit = ofOperator.find(({ action }) => action === 'setLimit');
    const named = { resource: 'organization', recordIds: [organization.id], members: ['destinations'] };
    expect(limit).to.deep.include(named);
    expect(limit?.userAgent).to.match(/^hookyard orgs set-limit \(/);
  });

  it('makes a key for one, without a key', async () => {
    const token = (await cli.ok('keys', 'create', 'Rescue', '--org', organization.slug, '--scope', 'read')).trim();
    const withKey = commandLine({ ...organization, token });
    expect(await withKey.json('whoami'))
      .to.have.property('key')
      .that.deep.includes({ name: 'Rescue', scopes: ['read'] });
    const ran = await withKey.run(['sources', 'create', 'nothing']);
    expect(ran.code).to.equal(4);
    await fails(2, /Invalid scope root/, 'keys', 'create', 'x', '--org', organization.slug, '--scope', 'root');
    await fails(2, /in the future/, 'keys', 'create', 'x', '--org', organization.slug, '--expires', '2020-01-01');
    await fails(3, /No organization with the ID or slug nobody/, 'keys', 'create', 'x', '--org', 'nobody');
  });

  it('deletes one only when its slug is given twice; its keys and addresses end at once', async () => {
    const { source } = await makePipeline(organization);
    await fails(2, /--confirm/, 'orgs', 'delete', organization.slug);
    await fails(1, /must be the organization's slug/, 'orgs', 'delete', organization.id, '--confirm', organization.id);
    expect(await shown()).to.include({ status: 'active' });
    await cli.ok('orgs', 'delete', organization.slug, '--confirm', organization.slug);
    expect(await shown()).to.include({ status: 'deleting' });
    expect((await organization.api.request('GET', '/api/auth/me')).status).to.equal(401);
    const webhook = await fetch(`${organization.api.url}/ingest/${organization.slug}/${source.slug}`, {
      method: 'POST',
      body: '{}',
    });
    expect(webhook.status).to.equal(404);
    expect(await cli.ok('orgs', 'resume', organization.slug)).to.match(/is being deleted$/m);
    await fails(1, /is being deleted; no key was created/, 'keys', 'create', 'x', '--org', organization.slug);
    expect(await shown()).to.include({ status: 'deleting' });
  });
});
