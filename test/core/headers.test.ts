import { expect } from 'chai';
import fc from 'fast-check';
import { valueBytes } from '../../core/http/header-text.ts';
import {
  checkCustomHeaders,
  checkHeaderName,
  isHeaderValue,
  MAX_CUSTOM_HEADER_BYTES,
  MAX_CUSTOM_HEADERS,
  mergeHeaders,
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
