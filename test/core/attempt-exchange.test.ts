import { expect } from 'chai';
import { type AttemptExchange, exchangeText, readExchange } from '../../db/hot-path/record-results.ts';

const NOTHING: AttemptExchange = {
  ...{ address: null, port: null, reused: false, dns: null, connect: null, tls: null, firstByte: null },
  destinationVersion: 1,
};
const FIRST = { address: '2001:db8::1', port: 443, dns: 3.1, connect: 11, tls: 0, firstByte: 41.2 };

describe('the text of an exchange', () => {
  const rows: [text: string, exchange: AttemptExchange][] = [
    ['- - 0 - - - - 1', NOTHING],
    ['2001:db8::1 443 0 3.1 11 0 41.2 12', { ...NOTHING, ...FIRST, destinationVersion: 12 }],
    ['127.0.0.1 80 1 - - - 0.4 1', { ...NOTHING, address: '127.0.0.1', port: 80, reused: true, firstByte: 0.4 }],
  ];
  for (const [text, exchange] of rows) {
    it(`${text} is read as it was written`, () => {
      expect(exchangeText(exchange)).to.equal(text);
      expect(readExchange(text)).to.deep.equal(exchange);
    });
  }

  it('may have parts of a later release', () => {
    expect(readExchange('- - 0 - - - - 1 new')).to.deep.equal(NOTHING);
  });

  it('is not known where there is none', () => {
    expect(readExchange(null)).to.equal(null);
  });
});
