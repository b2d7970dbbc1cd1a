import { expect } from 'chai';
import fc from 'fast-check';
import { headerBytes, headerTexts, receivedHeaders, valueBytes, valueText } from '../../core/http/header-text.ts';

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
