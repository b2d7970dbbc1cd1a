import { expect } from 'chai';
import fc from 'fast-check';
import { lookupPath, parsePath } from '../../core/text/dotted-path.ts';
import { plural } from '../../core/text/words.ts';
import { isSlug, isSlugOf, nextFreeSlug, slugify } from '../../core/text/slugs.ts';

describe('slugs', () => {
  it('are lowercase letters and digits with single hyphens, at most 63', () => {
    for (const good of ['a', '0', 'github-prod', 'a-b-c', 'x'.repeat(63)]) expect(isSlug(good), good).to.equal(true);
    for (const bad of ['', '-', 'a-', '-a', 'a--b', 'A', 'a_b', 'a b', 'é', 'a\n', 'x'.repeat(64)]) {
      expect(isSlug(bad), bad).to.equal(false);
    }
  });

  it('are made of names in any script', () => {
    const cases: [string, string][] = [
      ['GitHub Prod (EU)', 'github-prod-eu'],
      ['  Crème brûlée — №1 ', 'creme-brulee-no1'],
      ['Straße', 'strasse'],
      ['Заказы', 'zakazy'],
      ['주문', 'jumun'],
      ['注文', 'zhuwen'],
      ['仕入れ先', 'shirurexian'],
      ['طلبات', 'tlbt'],
      ['Ｆｕｌｌ', 'full'],
    ];
    for (const [name, slug] of cases) expect(slugify(name, 'filter'), name).to.equal(slug);
  });

  it('are a hash of a name without letters and digits', () => {
    expect(slugify('!!!', 'filter')).to.match(/^filter-[0-9a-f]{10}$/);
    expect(slugify('!!!', 'filter')).to.equal(slugify('!!!', 'filter')).and.not.equal(slugify('!?!', 'filter'));
  });

  it('come out valid whatever the name', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => isSlug(slugify(name, 'filter'))));
  });

  const nextFree = (base: string, taken: string[]) => nextFreeSlug(base, (slug) => taken.includes(slug));
  const long = 'x'.repeat(63);
  const hyphen = `${'x'.repeat(60)}-yz`;

  it('get the next free number on conflict, within the length', () => {
    expect(nextFree('orders', [])).to.equal('orders');
    expect(nextFree('orders', ['orders'])).to.equal('orders-2');
    expect(nextFree('orders', ['orders', 'orders-2', 'orders-3'])).to.equal('orders-4');
    expect(nextFree(long, [long])).to.equal(`${'x'.repeat(61)}-2`);
    expect(nextFree(hyphen, [hyphen])).to.equal(`${'x'.repeat(60)}-2`);
  });

  it('are told from slugs of other names', () => {
    for (const base of ['orders', 'orders-7', long, hyphen]) {
      expect(isSlugOf(base, base), base).to.equal(true);
      expect(isSlugOf(nextFree(base, [base]), base), base).to.equal(true);
    }
    for (const other of ['orders-b', 'order', 'orders-2-x']) expect(isSlugOf(other, 'orders'), other).to.equal(false);
  });
});

describe('dotted paths', () => {
  const order = {
    id: 7,
    note: null,
    'a.b': 'dotted',
    customer: { name: 'Ann' },
    items: [{ sku: 'A', tags: ['x', 'y'] }, { sku: 'B' }, { tags: ['z'] }],
    matrix: [[1], [3, 4]],
  };
  const cases: [string, unknown[]][] = [
    ['id', [7]],
    ['$.id', [7]],
    ['$', [order]],
    ['note', [null]],
    ['customer.name', ['Ann']],
    ['$.customer.name', ['Ann']],
    ["$['customer']['name']", ['Ann']],
    ['["a.b"]', ['dotted']],
    ['items.0.sku', ['A']],
    ['items[0].sku', ['A']],
    ['items[1].sku', ['B']],
    ['items[*].sku', ['A', 'B']],
    ['items[*].tags[*]', ['x', 'y', 'z']],
    ['matrix[1][0]', [3]],
    ['matrix.1.0', [3]],
    ['items[9].sku', []],
    ['missing', []],
    ['customer.name.first', []],
    ['customer[*]', []],
    ['items.length', []],
    ['constructor', []],
    ['__proto__', []],
    ['items.sku', []],
  ];
  for (const [path, matches] of cases) {
    it(`${path} leads to ${JSON.stringify(matches).slice(0, 40)}`, () => {
      expect(lookupPath(order, path)).to.deep.equal(matches);
    });
  }

  it('start at an array as well', () => {
    expect(lookupPath([{ a: 1 }, { a: 2 }], '[*].a')).to.deep.equal([1, 2]);
    expect(lookupPath([{ a: 1 }, { a: 2 }], '$[1].a')).to.deep.equal([2]);
  });

  it('lead nowhere in values that have no members', () => {
    for (const value of [null, undefined, 5, 'text', true]) expect(lookupPath(value, 'a')).to.deep.equal([]);
  });

  it('are refused when they are malformed', () => {
    const malformed = [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a[',
      'a[]',
      'a[-1]',
      'a[x]',
      'a]',
      '$.',
      'a[0]b',
      'x'.repeat(1025),
    ];
    for (const path of malformed) expect(parsePath(path), path).to.equal(null);
  });

  it('find every member of every object by its quoted name', () => {
    const name = fc.string().filter((text) => !text.includes('"') && text !== '__proto__');
    fc.assert(
      fc.property(name, fc.jsonValue(), (key, value) => {
        expect(lookupPath({ [key]: value }, `["${key}"]`)).to.deep.equal([value]);
      }),
    );
  });
});

it('writes a count with its noun', () => {
  const texts = ['event', 'delivery', 'day', 'address', 'index', 'batch'].map((noun) => plural(2, noun));
  expect(texts).to.deep.equal(['2 events', '2 deliveries', '2 days', '2 addresses', '2 indexes', '2 batches']);
  expect(plural(1, 'delivery')).to.equal('1 delivery');
  expect([0, 1].map((count) => plural(count, 'file is', 'files are'))).to.deep.equal(['0 files are', '1 file is']);
});
