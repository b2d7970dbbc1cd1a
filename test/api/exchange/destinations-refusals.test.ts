// Imports of destinations that are wrong.
import { expect } from 'chai';
import { expectInvalid } from '../../support/api-client.ts';
import { createOrganization, type TestOrganization } from '../../support/service.ts';
import { everything, exported, importInto, request, url } from './destination-files.ts';

describe('Imports of destinations that are wrong', () => {
  let organization: TestOrganization;
  beforeEach(async () => {
    organization = await createOrganization();
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

    it('a failed overwrite changes nothing of what is stored', async () => {
      await importInto(organization, [everything]);
      const result = await importInto(
        organization,
        [{ ...everything, name: 'Changed', authType: 'bearer', authConfig: { token: '' } }],
        'overwrite',
      );
      expect(result.details.failed).to.deep.equal(['Changed']);
      expect((await exported(organization, '?includeSensitive=true')).destinations).to.deep.equal([everything]);
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
