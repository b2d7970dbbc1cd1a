import { expect } from 'chai';
import { newId } from '../../../core/text/ids.ts';
import { expectInvalid } from '../../support/api-client.ts';
import { makeDestination } from '../../support/api-records.ts';
import { createOrganization } from '../../support/service.ts';
import { useEach } from '../../support/use-hookyard.ts';
import {
  bySlug,
  everything,
  exported,
  importInto,
  type ImportResult,
  REDACTED,
  request,
  signingSecret,
  url,
} from './destination-files.ts';

describe('Export and import of destinations', () => {
  const organization = useEach(createOrganization);

  describe('export', () => {
    it('answers the envelope with every destination, oldest first, credentials redacted', async () => {
      await makeDestination(organization, { name: 'Plain' });
      const auth = { authType: 'bearer', authConfig: { token: 'very-secret-token' } };
      await makeDestination(organization, { name: 'Bearer', ...auth, signingSecret, enabled: false });
      const startedAt = Date.now();
      const file = await exported(organization);
      expect(file).to.deep.include({ version: '1.0', organizationSlug: organization.slug });
      expect(new Date(file.exportedAt).toISOString()).to.equal(file.exportedAt);
      expect(Date.parse(file.exportedAt)).to.be.within(startedAt - 1000, Date.now() + 1000);
      const common = {
        description: null,
        type: 'http',
        url,
        method: 'POST',
        headers: {},
        authConfig: REDACTED,
        timeoutMs: 30_000,
        rateLimitPerMinute: null,
        maxConcurrency: null,
        forwardHeaders: null,
        forwardQuery: false,
        forwardPath: false,
        retryPolicy: { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 },
      };
      expect(file.destinations).to.deep.equal([
        { ...common, name: 'Plain', slug: 'plain', authType: 'none', signingSecret: null, isActive: true },
        { ...common, name: 'Bearer', slug: 'bearer', authType: 'bearer', signingSecret: REDACTED, isActive: false },
      ]);
      expect(JSON.stringify(file)).to.not.match(/secret-token|whsec_/);
    });

    it('writes credentials in clear on request', async () => {
      await importInto(organization, [everything, { name: 'Plain', url }]);
      const file = await exported(organization, '?includeSensitive=true');
      expect(file.destinations[0]).to.deep.equal(everything);
      expect(file.destinations[1]).to.deep.include({ authType: 'none', authConfig: {}, signingSecret: null });
    });

    it('takes ids, and passes over those it does not know', async () => {
      const made = [await makeDestination(organization), await makeDestination(organization, { name: 'Chosen' })];
      const ids = [made[1]?.id, 'dst_unknown', newId('dst')].join(',');
      expect((await exported(organization, `?ids=${ids}`)).destinations.map(({ name }) => name)).to.deep.equal([
        'Chosen',
      ]);
      expect((await exported(organization, '?ids=')).destinations).to.have.length(2);
    });

    it('answers 400 to wrong parameters', async () => {
      const get = (query: string) => organization.api.request('GET', `/api/destinations/export?${query}`);
      expectInvalid(await get('includeSensitive=yes'), 'includeSensitive');
      expectInvalid(await get('ids=a&ids=b'), 'ids');
      expectInvalid(await get(`ids=${'a,'.repeat(1001)}`), 'ids');
    });
  });

  describe('credentials that the file does not hold', () => {
    const redacted = { ...everything, authConfig: REDACTED, signingSecret: REDACTED, isActive: true };

    it('keeps the stored ones on overwrite', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(organization, [{ ...redacted, name: 'Again' }], 'overwrite');
      expect(result).to.deep.include({ success: true, warnings: [] });
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([
        { ...everything, name: 'Again', isActive: true },
      ]);
    });

    it('imports a new destination without them, disabled, with a warning; setting them completes it', async () => {
      const result = await importInto(organization, [
        redacted,
        { ...redacted, name: 'Free', slug: 'free', authType: 'none', signingSecret: null },
      ]);
      expect(result.summary).to.deep.include({ imported: 2, failed: 0 });
      expect(result.warnings).to.have.length(1);
      expect(result.warnings[0]).to.match(/^destinations\[0\] "Everything": imported as disabled/);
      expect(await bySlug(organization, 'free')).to.deep.include({ enabled: true, authType: 'none' });
      const stored = await bySlug(organization, 'all-of-it');
      expect(stored).to.deep.include({ enabled: false, authType: 'basic', authConfig: {}, signingSecret: null });
      // Exported again it still says that they are missing, even where credentials are asked for.
      const file = await exported(organization, '?includeSensitive=true');
      expect(file.destinations[0]).to.deep.include({ authConfig: REDACTED, isActive: false });
      const repeated = await importInto(organization, [redacted], 'overwrite');
      expect(repeated.summary.overwritten).to.equal(1);
      expect(repeated.warnings).to.have.length(2);
      expect((await bySlug(organization, 'all-of-it')).enabled).to.equal(false);
      const { authConfig } = everything;
      expect(
        await organization.api.patch(`/api/destinations/${stored.id}`, { authConfig, enabled: true }),
      ).to.deep.include({ enabled: true, authConfig: { username: 'u', password: '••••word' } });
    });

    it('does not enable one that has none yet', async () => {
      await importInto(organization, [redacted]);
      const { id } = await bySlug(organization, 'all-of-it');
      const { api, base } = organization;
      for (const path of ['/api/destinations', `${base}/destinations`])
        expectInvalid(await api.request('PATCH', `${path}/${id}`, { enabled: true }), 'authConfig');
      const { name, url: target, authType } = everything;
      const put = await api.request('PUT', '/api/destinations/by-slug/all-of-it', { name, url: target, authType });
      expect(put.status, 'a replacement names its credentials').to.equal(400);
      const item = { name, slug: 'all-of-it', url: target, isActive: true };
      const overwritten = await importInto(organization, [item], 'overwrite');
      expect(overwritten.details.failed).to.deep.equal(['Everything']);
      expect(await bySlug(organization, 'all-of-it')).to.include({ enabled: false, authType: 'basic' });
      expect(await api.patch(`/api/destinations/${id}`, { timeoutMs: 99 })).to.include({ enabled: false });
      const free = await api.patch(`/api/destinations/${id}`, { authType: 'none', enabled: true });
      expect(free).to.include({ enabled: true, authType: 'none' });
    });

    it('are none where the item has no authentication: it replaces one that has', async () => {
      await importInto(organization, [everything]);
      const from = await createOrganization();
      await importInto(from, [{ name: 'Open', slug: 'all-of-it', url }]);
      const { destinations } = await exported(from);
      expect(destinations[0]).to.include({ authType: 'none', authConfig: REDACTED });
      const result = await importInto(organization, destinations, 'overwrite');
      expect(result).to.deep.include({ success: true, errors: [], warnings: [] });
      const expected = { name: 'Open', authType: 'none', enabled: true };
      expect(await bySlug(organization, 'all-of-it')).to.deep.include(expected);
      // So does the file that holds credentials.
      await importInto(organization, [everything], 'overwrite');
      const { destinations: whole } = await exported(from, '?includeSensitive=true');
      expect((await importInto(organization, whole, 'overwrite')).errors).to.deep.equal([]);
      expect((await bySlug(organization, 'all-of-it')).authType).to.equal('none');
    });

    it('does not turn credentials of one type into another, and an overwrite that fails for that changes nothing', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(
        organization,
        [{ ...redacted, name: 'Changed', authType: 'bearer' }],
        'overwrite',
      );
      expect(result.details.failed).to.deep.equal(['Changed']);
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([everything]);
    });

    it('takes the masked values of ordinary answers as what is stored', async () => {
      await importInto(organization, [everything]);
      const masked = {
        ...everything,
        authConfig: { username: 'new', password: '••••word' },
        signingSecret: '••••LaSw',
      };
      await importInto(organization, [masked], 'overwrite');
      expect((await exported(organization, '?includeSensitive=true')).destinations[0]).to.deep.include({
        authConfig: { username: 'new', password: 'a long password' },
        signingSecret,
      });
      const result = await importInto(organization, [{ ...masked, slug: 'new' }]);
      expect(result.details.failed).to.deep.equal(['Everything']);
    });
  });

  it('validateOnly reports the same and changes nothing', async () => {
    await importInto(organization, [everything, { name: 'Stays', slug: 'stays', url }]);
    const items = [
      { ...everything, name: 'Over', isActive: true },
      { name: 'New', slug: 'new', url, authType: 'bearer', authConfig: REDACTED },
      { name: 'Bad', url: 'x' },
    ];
    for (const strategy of ['skip', 'rename', 'overwrite']) {
      const before_ = await exported(organization, '?includeSensitive=true');
      const tried = await importInto(organization, items, strategy, { validateOnly: true });
      const after_ = await exported(organization, '?includeSensitive=true');
      expect({ ...after_, exportedAt: '' }).to.deep.equal({ ...before_, exportedAt: '' });
      const done = await importInto(organization, items, strategy);
      const ids = (result: ImportResult) =>
        result.destinations.map(({ id, status }) => (status === 'created' ? null : id));
      expect(ids(tried)).to.deep.equal(ids(done));
      expect(
        tried.destinations.every(({ id, status }) => (status === 'created' || status === 'failed') === (id === null)),
      ).to.equal(true);
      const withoutIds = ({ destinations, ...rest }: ImportResult) => ({
        ...rest,
        destinations: destinations.map(({ id: _id, ...destination }) => destination),
      });
      expect(withoutIds(tried)).to.deep.equal(withoutIds(done));
    }
  });

  describe('validation', () => {
    const wrong: [string, unknown, RegExp][] = [
      ['a wrong url', { name: 'Bad', url: 'ftp://x' }, /^destinations\[1\] "Bad": url /],
      ['no name', { url }, /^destinations\[1\]: name /],
      ['no object', 'Bad', /^destinations\[1\]: /],
      ['bearer without a token', { name: 'Bad', url, authType: 'bearer', authConfig: {} }, /authConfig.token /],
      ['text that cannot be stored', { name: 'Bad', url, description: 'a\0b' }, /description /],
      ['isActive that is no boolean', { name: 'Bad', url, isActive: 'yes' }, /isActive /],
      ['a warehouse without its config', { name: 'Bad', url: '', type: 's3', config: {} }, /config.bucket /],
    ];
    for (const [what, item, message] of wrong) {
      it(`fails ${what} as the create endpoint does, and imports the others`, async () => {
        const items = [{ name: 'Good', url }, item, { name: 'Also good', url }];
        const result = await importInto(organization, items);
        expect(result.success).to.equal(false);
        expect(result.summary).to.deep.equal({ imported: 2, skipped: 0, overwritten: 0, failed: 1 });
        expect(result.errors[0]).to.match(message);
        const stored = (await exported(organization)).destinations.map(({ name }) => name);
        expect(stored).to.deep.equal(['Good', 'Also good']);
      });
    }

    it('refuses warehouses on the plan free as the create endpoint does', async () => {
      const free = await createOrganization({ plan: 'free' });
      const result = await importInto(free, [{ name: 'W', type: 'gcs', url: '' }]);
      expect(result.details.failed).to.deep.equal(['W']);
    });

    it('takes the envelope of any 1.x file and refuses a newer major version', async () => {
      const file = await exported(organization);
      for (const version of ['1.0', '1.7', '0.9', undefined]) {
        expect((await request(organization, { ...file, version, conflictStrategy: 'skip' })).status).to.equal(200);
      }
      expectInvalid(await request(organization, { ...file, version: '2.0', conflictStrategy: 'skip' }), 'version');
      expectInvalid(await request(organization, { ...file, version: '10', conflictStrategy: 'skip' }), 'version');
    });
  });
});
