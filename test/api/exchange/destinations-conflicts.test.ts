import { expect } from 'chai';
import { createOrganization } from '../../support/service.ts';
import { useEach } from '../../support/use-hookyard.ts';
import { bySlug, everything, exported, importInto, type ImportResult, url } from './destination-files.ts';

describe('Imports of destinations that meet others', () => {
  const organization = useEach(createOrganization);

  describe('conflicts', () => {
    beforeEach(() =>
      importInto(organization, [{ ...everything, authConfig: { username: 'u', password: 'the old password' } }]),
    );
    const incoming = { name: 'Newcomer', slug: 'all-of-it', url: 'https://new.example/', headers: { 'X-New': '1' } };

    it('skip leaves the existing one', async () => {
      const before_ = await bySlug(organization, 'all-of-it');
      const result = await importInto(organization, [incoming, { name: 'Other', slug: 'other', url }]);
      expect(result).to.deep.equal({
        success: true,
        summary: { imported: 1, skipped: 1, overwritten: 0, failed: 0 },
        details: { imported: ['Other'], skipped: ['Newcomer'], overwritten: [], failed: [] },
        errors: [],
        warnings: [],
        destinations: [
          { id: before_.id, name: 'Newcomer', slug: 'all-of-it', status: 'skipped' },
          { id: (await bySlug(organization, 'other')).id, name: 'Other', slug: 'other', status: 'created' },
        ],
      });
      expect(await bySlug(organization, 'all-of-it')).to.deep.equal(before_);
    });

    it('rename gives the imported one a new slug with a numeric suffix', async () => {
      const before_ = await bySlug(organization, 'all-of-it');
      await importInto(organization, [{ name: 'In the way', slug: 'all-of-it-3', url }]);
      const result = await importInto(organization, [incoming, incoming], 'rename');
      expect(result.details.imported).to.deep.equal(['Newcomer', 'Newcomer']);
      expect(result.destinations.map(({ slug }) => slug)).to.deep.equal(['all-of-it-2', 'all-of-it-4']);
      expect(await bySlug(organization, 'all-of-it-2')).to.deep.include({
        name: 'Newcomer',
        url: 'https://new.example/',
      });
      expect(await bySlug(organization, 'all-of-it')).to.deep.equal(before_);
    });

    it('overwrite updates the existing one and keeps what the file does not say', async () => {
      const before_ = await bySlug(organization, 'all-of-it');
      const result = await importInto(organization, [incoming], 'overwrite');
      expect(result.summary).to.deep.equal({ imported: 0, skipped: 0, overwritten: 1, failed: 0 });
      expect(result.destinations).to.deep.equal([
        { id: before_.id, name: 'Newcomer', slug: 'all-of-it', status: 'overwritten' },
      ]);
      const { updatedAt: _then, ...kept } = before_;
      expect(await bySlug(organization, 'all-of-it')).to.deep.include({
        ...kept,
        name: 'Newcomer',
        url: 'https://new.example/',
        headers: { 'X-New': '1' },
      });
      expect((await exported(organization, '?includeSensitive=true')).destinations[0]?.authConfig).to.deep.equal({
        username: 'u',
        password: 'the old password',
      });
    });

    it('makes the slug of the name where the file has none, so that a second import meets the first', async () => {
      const item = { name: 'Acme CRM', url };
      expect((await importInto(organization, [item])).destinations[0]?.slug).to.equal('acme-crm');
      expect((await importInto(organization, [item])).summary.skipped).to.equal(1);
      expect((await importInto(organization, [item], 'rename')).destinations[0]?.slug).to.equal('acme-crm-2');
    });

    it('never takes a slug that was made of another name for an identity', async () => {
      for (const name of ['Destination', 'Cafe', 'Cafe 2']) await importInto(organization, [{ name, url }]);
      const before = (await exported(organization)).destinations;
      const others = ['仕入れ先', '注文', '!!!', '???', 'Café', 'CAFE'].map((name) => ({ name, url: `${url}/other` }));
      const imported = await importInto(organization, others, 'overwrite');
      expect(imported.summary).to.deep.include({ imported: 6, overwritten: 0 });
      const slugs = imported.destinations.map(({ slug }) => slug);
      expect(slugs.slice(0, 2)).to.deep.equal(['shirurexian', 'zhuwen']);
      expect(slugs[2]).to.match(/^destination-[0-9a-f]{10}$/);
      expect(slugs.slice(4)).to.deep.equal(['cafe-3', 'cafe-4']);
      expect(new Set(slugs).size).to.equal(6);
      expect((await exported(organization)).destinations.slice(0, before.length)).to.deep.equal(before);
      // The same names are the same records.
      const again = others.toReversed().map((item) => ({ ...item, method: 'PUT' }));
      const overwritten = await importInto(organization, again, 'overwrite');
      expect(overwritten.summary).to.deep.include({ imported: 0, overwritten: 6 });
      expect(overwritten.destinations.map(({ slug }) => slug)).to.deep.equal(slugs.toReversed());
      expect((await importInto(organization, others)).summary).to.deep.include({ imported: 0, skipped: 6 });
      expect((await exported(organization)).destinations.slice(0, before.length)).to.deep.equal(before);
    });

    it('a record of the same name with a slug of its own is another one', async () => {
      await importInto(organization, [{ name: 'Partner', slug: 'first-partner', url }]);
      const result = await importInto(organization, [{ name: 'Partner', url: `${url}/2` }], 'overwrite');
      expect(result.destinations).to.deep.include.members([
        { ...result.destinations[0], slug: 'partner', status: 'created' },
      ]);
      expect(await bySlug(organization, 'first-partner')).to.deep.include({ url });
    });

    it('tells of items of one file that have the same slug', async () => {
      const twins = [
        { ...incoming, name: 'One', slug: 'twin' },
        { ...incoming, name: 'Two', slug: 'twin' },
      ];
      const skipped = await importInto(organization, twins, 'skip', { validateOnly: true });
      expect(skipped.summary).to.deep.include({ imported: 1, skipped: 1 });
      expect(skipped.warnings[0]).to.match(/^destinations\[1\] "Two": .*destinations\[0\] "One"/);
      const overwritten = await importInto(organization, twins, 'overwrite');
      expect(overwritten.details).to.deep.include({ imported: ['One'], failed: ['Two'] });
    });
  });

  it('imports at once leave one of each, whatever the strategy', async () => {
    const items = Array.from({ length: 40 }, (_, index) => ({ name: `D${index}`, slug: `d-${index}`, url }));
    const results = await Promise.all([
      importInto(organization, items),
      importInto(organization, items.toReversed()),
      importInto(organization, items, 'overwrite'),
    ]);
    const sum = (of: keyof ImportResult['summary']) => results.reduce((total, { summary }) => total + summary[of], 0);
    expect(sum('imported')).to.equal(40);
    expect(sum('skipped') + sum('overwritten')).to.equal(80);
    expect((await exported(organization)).destinations).to.have.length(40);
    await Promise.all([importInto(organization, items, 'rename'), importInto(organization, items, 'rename')]);
    const slugs = (await exported(organization)).destinations.map(({ slug }) => String(slug));
    expect(slugs.toSorted()).to.deep.equal(items.flatMap(({ slug }) => [slug, `${slug}-2`, `${slug}-3`]).toSorted());
  });
});
