import { expect } from 'chai';
import fc from 'fast-check';
import { deliveryAddress, deliveryUrl, withoutParameter } from '../../core/delivery/delivery-url.ts';
import { pathProblem } from '../../core/ingest/ingest-url.ts';

const both = { forwardQuery: true, forwardPath: true };
const urlOf = (url: string, query: string, path = '') => deliveryUrl({ url, ...both }, { query, path });

describe('the address of a delivery', () => {
  it('is that of the destination, to the letter, when nothing is added', () => {
    const url = 'https://CRM.example/Hooks?b=%7e&a';
    expect(urlOf(url, '')).to.equal(url);
    const received = { query: 'c=1', path: '/x' };
    expect(deliveryUrl({ url, forwardQuery: false, forwardPath: false }, received)).to.equal(url);
  });

  const queries: [own: string, received: string, sent: string][] = [
    ['', 'a=1&b=2', '?a=1&b=2'],
    ['?own=1', 'a=1', '?own=1&a=1'],
    // What was received stays as it was written.
    ['', 'a=%7e&b=x+y&c&=d&a=', '?a=%7e&b=x+y&c&=d&a='],
    ['', '&&a=1&&', '?&&a=1&&'],
    ['?own=1', '&a=1&&', '?own=1&&a=1&&'],
    ['?own=1', 'own=2&', '?own=1'],
    ['?', 'a=1', '?a=1'],
    ['#x', 'a=1', '?a=1'],
    ['', `a='"<>|^{}\\[]\`~!$()*+,-./:;=@_%zz%2e%2E/../?`, `?a='"<>|^{}\\[]\`~!$()*+,-./:;=@_%zz%2e%2E/../?`],
    // A parameter of the destination keeps its value, in every spelling that a server may take for it.
    ['?token=s', 'token=evil&a=1', '?token=s&a=1'],
    ['?token=s', '%74oken=evil', '?token=s'],
    ['?token=s', 'TOKEN=evil&token[]=evil&token%5B0%5D=evil&%20token=evil', '?token=s'],
    ['?api_key=s', 'api.key=evil&api+key=evil&api%5Bkey=evil&api_key', '?api_key=s'],
    ['?token=s', 'a=1;token=evil', '?token=s'],
    // PHP cuts a name at its NUL, `qs` reads [token] as token, ASP.NET decodes %u0074, and a second server %2574.
    ['?token=s', 'token%00x=evil&%00token=evil&a%0d=1', '?token=s'],
    ['?token=s', '[token]=evil&[token][]=evil&%5BToken%5D=evil&%20[token]=evil', '?token=s'],
    ['?token=s', '%u0074oken=evil&%U0074oken=evil&%2574oken=evil&a=1;%u0074oken=evil', '?token=s'],
    ['?token=s', 'a=%u0074&b=%00&[c]=1&100%25=1', '?token=s&a=%u0074&b=%00&[c]=1&100%25=1'],
    ['', 'token%00x=1&%u0074oken=1', '?token%00x=1&%u0074oken=1'],
    ['?a;token=s', 'token=evil', '?a;token=s'],
    ['?token', 'token=evil', '?token'],
    ['?token=s&token=t', 'tokens=1', '?token=s&token=t&tokens=1'],
  ];
  for (const [own, received, sent] of queries) {
    it(`adds ${received} to ${own || 'nothing'}`, () => {
      expect(urlOf(`https://crm.example/hooks${own}`, received)).to.equal(`https://crm.example/hooks${sent}`);
    });
  }

  const paths: [own: string, received: string, sent: string][] = [
    ['', '/orders', '/orders'],
    ['/', '/orders', '/orders'],
    ['/hooks', '/orders/', '/hooks/orders/'],
    ['/hooks/', '/orders/7', '/hooks/orders/7'],
    ['/hooks?own=1', '/a%20b;v=1', '/hooks/a%20b;v=1?own=1'],
    ['/hooks', '/', '/hooks/'],
    ['/hooks', `/'"<>|^{}[]\`~!$()*+,-.:;=@_%7e%2D`, `/hooks/'"<>|^{}[]\`~!$()*+,-.:;=@_%7e%2D`],
  ];
  for (const [own, received, sent] of paths) {
    it(`adds the path ${received} to ${own || 'none'}`, () => {
      expect(urlOf(`https://crm.example${own}`, '', received)).to.equal(`https://crm.example${sent}`);
    });
  }

  it('never leaves the path of the destination, whatever path a source has taken', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '.',
        '..',
        '/',
        '\\',
        '%',
        '2e',
        '2f',
        '5c',
        '25',
        'u002f',
        'u002e',
        ';',
        '‥',
        '．',
        '／',
        '%c0%ae',
        '?',
        '#',
        ' ',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const path = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(path, (received) => {
        if (pathProblem(received) !== null) return;
        const { origin, pathname, search, hash } = new URL(urlOf('https://crm.example/a/b', '', received));
        expect([origin, search, hash]).to.deep.equal(['https://crm.example', '', '']);
        expect(pathname.startsWith('/a/b/')).to.equal(true);
        const url = 'https://crm.example/a/b';
        expect(deliveryAddress({ url, ...both }, { query: '', path: received }).target).to.equal(`/a/b${received}`);
        const read = decodeAll(pathname);
        expect(read.split(/[/\\]/).length).to.equal(pathname.split('/').length);
        expect(read.split('/').map((segment) => segment.trim())).to.not.include.members(['..']);
      }),
      { numRuns: 2000 },
    );
  });
});

/** As a chain of servers may read it that leave alone what is no escape. */
function decodeAll(text: string): string {
  for (;;) {
    const next = text
      .replaceAll(/%u([0-9a-f]{4})/gi, (_escape, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
      .replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
    if (next === text) return text;
    text = next;
  }
}

describe('a path below a source', () => {
  const refused: Record<string, RegExp> = {
    '/..': /segments/,
    '/a/../b': /segments/,
    '/.': /segments/,
    '/%2e%2E/b': /segments/,
    '/%252e%252e': /segments/,
    '/..;a=1/b': /segments/,
    '/..%20/b': /segments/,
    '/a%2fb': /encoded slash/,
    '/a%252Fb': /encoded slash/,
    '/a\\b': /backslash/,
    '/a%5cb': /backslash/,
    '/a%EF%BC%8Fb': /encoded slash/,
    // A second reading that leaves the first % alone.
    '/%25%252f%252e%252e%252f%252e%252e%252fadmin': /encoded slash/,
    '/%252%2566': /encoded slash/,
    '/%25%255c': /backslash/,
    '/%25u002e%25u002E': /segments/,
    '/a%25u002fb': /encoded slash/,
    '/%25%2500': /control/,
    '/%25c0%25ae': /only as part of percent-encoded UTF-8/,
    '/%u002e': /only as part of percent-encoded UTF-8/,
    '/%EF%BC%8E%EF%BC%8E': /segments/,
    '/a%00': /control/,
    '/a%0d%0aHost:b': /control/,
    '/%c0%ae': /only as part of percent-encoded UTF-8/,
    '/100%': /only as part of percent-encoded UTF-8/,
    '/a//b': /consecutive slashes/,
    '//evil.example': /consecutive slashes/,
    '/a?b': /^must percent-encode/,
    '/a#b': /^must percent-encode/,
    '/a b': /^must percent-encode/,
    '/é': /^must percent-encode/,
    [`/${'a'.repeat(1024)}`]: /at most 1024/,
  };
  for (const [path, problem] of Object.entries(refused)) {
    it(`is not ${path.slice(0, 40)}`, () => expect(pathProblem(path)).to.match(problem));
  }

  const good = [
    '',
    '/',
    '/a',
    '/a/b/',
    '/...',
    '/..a',
    '/a..b',
    '/100%25',
    '/50%25-off',
    '/%25%25',
    '/%C3%A9t%C3%A9',
    '/a:b@c',
    '/a;v=1',
    `/'"<>|^{}[]\`~!$&()*+,-.=@_`,
  ];
  for (const path of good) {
    it(`may be ${path || 'missing'}`, () => expect(pathProblem(path)).to.equal(null));
  }
});

describe('a parameter that is taken out of a query', () => {
  it('leaves all others as they were written', () => {
    expect(withoutParameter('a=%7e&token=s&b=+&%74oken=t&token', 'token')).to.equal('a=%7e&b=+');
    expect(withoutParameter('token=s', 'token')).to.equal('');
    expect(withoutParameter('', 'token')).to.equal('');
  });
});
