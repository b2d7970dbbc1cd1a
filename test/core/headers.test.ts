import { expect } from 'chai';
import fc from 'fast-check';
import {
  valueBytes,
  headerBytes,
  headerTexts,
  receivedHeaders,
  valueText,
  checkCustomHeaders,
  checkHeaderName,
  isHeaderValue,
  MAX_CUSTOM_HEADER_BYTES,
  MAX_CUSTOM_HEADERS,
  mergeHeaders,
  hopsOf,
  MAX_HOPS,
} from '../../core/http/headers.ts';

describe('checkCustomHeaders', () => {
  it('accepts ordinary headers', () => {
    const plain = { 'X-Team': 'crm', Authorization: 'Bearer abc', 'x-empty': '' };
    expect(checkCustomHeaders({ ...plain, 'x-latin': 'caf\u00e9\ttab', 'X-Snow': '\u2603 \u010a' })).to.deep.equal([]);
    expect(checkCustomHeaders({ ...plain, 'X-É': 'no' })).to.have.length(1);
  });

  const refusedNames = [
    ...[
      'Host',
      'content-length',
      'Transfer-Encoding',
      'CONNECTION',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Upgrade',
      'Expect',
    ],
    ...['Proxy-Authorization', 'proxy-anything', 'HTTP2-Settings', 'X-Hookyard-Hops', 'x_hookyard_hops', '__proto__'],
    ...['', 'with space', 'colon:', 'line\r\nbreak', 'ümlaut'],
  ];
  for (const name of refusedNames) {
    it(`refuses the name ${JSON.stringify(name)}`, () => {
      expect(checkHeaderName(name)).to.match(/^must /);
      const headers = Object.fromEntries([[name, 'value']]);
      expect(checkCustomHeaders(headers).map((problem) => problem.name)).to.deep.equal([name]);
    });
  }

  it('refuses values with line breaks, NUL, control characters, or half of a surrogate pair', () => {
    for (const value of ['a\r\nX: b', 'a\nb', 'a\rb', '\0', 'a\u0001', '\u007f', '\u0085', 'half \ud83d']) {
      expect(isHeaderValue(value), JSON.stringify(value)).to.equal(false);
      expect(checkCustomHeaders({ 'X-A': value })).to.have.length(1);
    }
  });

  it('accepts no name or value that the Headers of the platform would refuse', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (name, value) => {
        if (checkCustomHeaders({ [name]: value }).length === 0) new Headers({ [name]: valueBytes(value) });
      }),
    );
  });

  it('refuses a name given twice in different case', () => {
    expect(checkCustomHeaders({ 'X-A': '1', 'x-a': '2' })[0]?.message).to.match(/twice/);
  });

  it('limits their number and their size', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'v']));
    const large = (bytes: number) => ({ 'X-A': 'v'.repeat(bytes - 'X-A'.length) });
    for (const most of [many(MAX_CUSTOM_HEADERS), large(MAX_CUSTOM_HEADER_BYTES)])
      expect(checkCustomHeaders(most)).to.deep.equal([]);
    expect(checkCustomHeaders(many(MAX_CUSTOM_HEADERS + 1))[0]?.message).to.match(/at most 50 headers/);
    expect(checkCustomHeaders(large(MAX_CUSTOM_HEADER_BYTES + 1))[0]?.message).to.match(/at most 16384 bytes/);
  });
});

describe('mergeHeaders', () => {
  it('lets the later value win whatever the case of the name', () => {
    const merged = mergeHeaders({ 'user-agent': 'a', accept: '*/*' }, { 'User-Agent': 'b' }, { 'X-A': '1' });
    expect(merged).to.deep.equal({ accept: '*/*', 'User-Agent': 'b', 'X-A': '1' });
  });

  it('never yields a name twice, and every name has its last value', () => {
    const set = fc.dictionary(fc.constantFrom('a', 'A', 'b', 'B', 'Content-Type', 'content-type'), fc.string());
    fc.assert(
      fc.property(fc.array(set), (sets) => {
        const merged = Object.entries(mergeHeaders(...sets)).map(
          ([name, value]) => [name.toLowerCase(), value] as const,
        );
        const wanted = new Map(sets.flatMap((each) => Object.entries(each)).map(([n, v]) => [n.toLowerCase(), v]));
        expect(merged).to.have.length(wanted.size);
        expect(new Map(merged)).to.deep.equal(wanted);
      }),
    );
  });
});

const latin1 = (...bytes: number[]) => Buffer.from(bytes).toString('latin1');

describe('the text of a header', () => {
  const values: [what: string, bytes: string, text: string][] = [
    ['ASCII', 'plain', 'plain'],
    ['UTF-8', latin1(0x52, 0xc3, 0xa9), 'Ré'],
    ['UTF-8 of four bytes', latin1(0xf0, 0x9f, 0x90, 0xb6), '🐶'],
    ['Latin-1', latin1(0x52, 0xe9), 'Ré'],
    ['the overlong UTF-8 of a slash', latin1(0xc0, 0xaf), 'À¯'],
    ['the UTF-8 of half a surrogate pair', latin1(0xed, 0xa0, 0x80), '\xed\xa0\x80'],
    ['UTF-8 and Latin-1 together', latin1(0xc3, 0xa9, 0xe9), 'Ã©é'],
    ['empty', '', ''],
  ];
  for (const [what, bytes, text] of values) it(`is read of ${what}`, () => expect(valueText(bytes)).to.equal(text));

  it('is written so that it is read again', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => valueText(valueBytes(text)) === text));
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => /^[\0-\xff]*$/.test(valueBytes(text))));
  });

  it('is that of each header, and ASCII costs no copy', () => {
    const ascii = { a: 'b' };
    expect(headerTexts(ascii)).to.equal(ascii);
    expect(headerBytes(ascii)).to.equal(ascii);
    const bytes = { a: 'b', c: latin1(0xc3, 0xa9) };
    expect(headerTexts(bytes)).to.deep.equal({ a: 'b', c: 'é' });
    expect(headerBytes({ a: 'b', c: 'é' })).to.deep.equal(bytes);
  });
});

describe('received headers', () => {
  // Node drops repeats of these, or makes lists of them.
  const ofNode = 'content-type authorization user-agent etag from referer set-cookie age max-forwards'.split(' ');
  const names = [...ofNode, 'x-any', '__proto__', 'constructor', 'hasownproperty', 'toString'];
  for (const name of names) {
    it(`have every repeat of ${name}`, () => {
      const headers = receivedHeaders([name, 'one', 'X-Other', 'x', name.toUpperCase(), 'two']);
      expect(Object.entries(headers)).to.deep.equal([
        [name.toLowerCase(), 'one, two'],
        ['x-other', 'x'],
      ]);
    });
  }

  it('have cookies as one list', () => {
    expect({ ...receivedHeaders(['Cookie', 'a=1', 'cookie', 'b=2']) }).to.deep.equal({ cookie: 'a=1; b=2' });
  });

  it('keep empty values and their places', () => {
    expect({ ...receivedHeaders(['A', '', 'a', 'x', 'a', '']) }).to.deep.equal({ a: ', x, ' });
  });
});

describe('the count of hops', () => {
  const counts: [value: string | undefined, hops: number][] = [
    [undefined, 0],
    ['0', 0],
    ['1', 1],
    [' 4 ', 4],
    ['1, 3', 3],
    ['3, 1', 3],
    ['', 0],
    ['-1', 0],
    ['1.5', 0],
    ['x', 0],
    ['x, 2', 2],
    ['0x10', 0],
    ['999999999999999999999999', MAX_HOPS],
  ];
  for (const [value, hops] of counts) {
    it(`of ${value === undefined ? 'no header' : JSON.stringify(value)} is ${hops}`, () => {
      expect(hopsOf(value === undefined ? {} : { 'x-hookyard-hops': value })).to.equal(hops);
    });
  }
});
