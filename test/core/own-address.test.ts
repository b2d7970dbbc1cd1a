import { expect } from 'chai';
import { addressesUnder } from '../../core/http/urls.ts';
import { apiService, onThisMachine } from '../../core/http/addresses.ts';

describe('an address', () => {
  const rows: [base: string, own: string[], others: string[]][] = [
    [
      'https://hooks.example.com',
      [
        'https://hooks.example.com/ingest/acme/orders',
        'https://HOOKS.example.com./x',
        'https://hooks.example.com:443/',
        'http://hooks.example.com/ingest/acme/orders',
        'https://hooks.example.com?x',
        'https://user@hooks.example.com/',
      ],
      [
        'https://hooks.example.com:8443/',
        'https://example.com/',
        'https://hooks.example.com.evil.example/',
        'https://xhooks.example.com/',
        'nonsense',
      ],
    ],
    [
      'https://example.com/hookyard',
      [
        'https://example.com/hookyard',
        'https://example.com/hookyard/ingest/a/b',
        'https://example.com//hookyard/x',
        'https://example.com/%68ookyard/x',
        'https://example.com/x/../hookyard/y',
      ],
      ['https://example.com/', 'https://example.com/hookyards', 'https://example.com/crm', 'https://example.com/%'],
    ],
    [
      'http://localhost:3000',
      [
        'http://localhost:3000/ingest/a/b',
        'http://127.0.0.1:3000/',
        'http://127.1:3000/',
        'http://2130706433:3000/',
        'http://[::1]:3000/',
        'http://[::ffff:127.0.0.1]:3000/',
        'http://0.0.0.0:3000/',
        'http://a.localhost:3000/',
        'http://0:3000/',
        'http://[::]:3000/',
      ],
      ['http://localhost:4000/', 'http://127.0.0.1/', 'http://localhost.example:3000/', 'http://10.0.0.1:3000/'],
    ],
    ['http://127.0.0.1:3000', ['http://localhost:3000/'], ['http://128.0.0.1:3000/']],
  ];
  for (const [base, own, others] of rows) {
    for (const address of own)
      it(`${address} is under ${base}`, () => expect(addressesUnder(base)(address)).to.equal(true));
    for (const address of [...others, ''])
      it(`${address || 'no text'} is not under ${base}`, () => expect(addressesUnder(base)(address)).to.equal(false));
  }
});

it('a port that is bound is an address of this machine, and the port 0 is none', () => {
  const here = { host: 'localhost', port: 8080 };
  expect([onThisMachine(0), onThisMachine(8080)]).to.deep.equal([[], [here]]);
  const host = { HOOKYARD_HOST: '10.0.0.1' };
  expect([apiService(host, 0), apiService(host, 8080)]).to.deep.equal([[], [here, { host: '10.0.0.1', port: 8080 }]]);
});
