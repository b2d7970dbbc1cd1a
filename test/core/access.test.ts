import { expect } from 'chai';
import { hashToken, newToken } from '../../core/config/api-token.ts';
import { allows, groupOf, isSingleScope, lacking, type SingleScope } from '../../core/config/plans-and-scopes.ts';
import {
  clientOf,
  inRanges,
  isAllowedFrom,
  normalAddress,
  normalRange,
  parseRange,
  rangeBeyond,
} from '../../core/http/addresses.ts';
import { type IngestTokens, isIngestAddress, newIngestToken, readBelow } from '../../core/ingest/ingest-url.ts';
import { emailList, isRecipientRule, mayReceive, recipientRule } from '../../core/messages/route-mails.ts';

describe('scopes', () => {
  const groups: [SingleScope, 'read' | 'write'][] = [
    ['events:read', 'read'],
    ['events:write', 'write'],
    ['secrets:read', 'write'],
  ];
  for (const [scope, group] of groups)
    it(`${scope} is in ${group}`, () => {
      expect(groupOf(scope)).to.equal(group);
      expect([allows([scope], scope), allows([group], scope)]).to.deep.equal([true, true]);
      expect(allows([group === 'read' ? 'write' : 'read', 'sources:read'], scope)).to.equal(false);
    });

  const wanted: [held: string[], wanted: string[], lacks: string | undefined][] = [
    [['read'], ['events:read', 'sources:read'], undefined],
    [['read'], ['events:read', 'events:write'], 'events:write'],
    [['events:read'], ['read'], 'read'],
    [['read', 'write'], ['read', 'write', 'secrets:read'], undefined],
    [[], [], undefined],
  ];
  for (const [held, asked, lacks] of wanted)
    it(`${held.join()} for ${asked.join()} lacks ${lacks ?? 'nothing'}`, () =>
      expect(lacking(held, asked)).to.equal(lacks));

  it('belong to a key of 256 random bits, of which the SHA-256 is stored', () => {
    expect(newToken()).to.match(/^whr_[\w-]{43}$/);
    expect(newToken()).to.not.equal(newToken());
    // printf abc | sha256sum
    const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(hashToken('abc').toString('hex')).to.equal(hash);
  });

  it('are single, or groups', () =>
    expect(['events:read', 'read', 'magic'].map(isSingleScope)).to.deep.equal([true, false, false]));
});

describe('addresses of keys', () => {
  it('have one spelling', () => {
    const spellings: [text: string, range: string | null, address: string | null][] = [
      ['192.0.2.7', '192.0.2.7/32', '192.0.2.7'],
      ['::ffff:192.0.2.7', '192.0.2.7/32', '192.0.2.7'],
      ['2001:DB8:1:2:3::7', '2001:db8:1:2:3::7/128', '2001:db8:1:2:3::7'],
      [' 10.1.2.3/8 ', '10.0.0.0/8', null],
      ['2001:db8:ffff::/32', '2001:db8::/32', null],
      ['host', null, null],
    ];
    for (const [text, ...expected] of spellings)
      expect([normalRange(text), normalAddress(text)], text).to.deep.equal(expected);
    for (const text of ['', '10.1', '0x0a000001', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'])
      expect(parseRange(text), text).to.equal(null);
  });

  it('are of one client in IPv4, and in a /64 of IPv6', () => {
    const isSame = (one: string, other: string) => clientOf(one) === clientOf(other);
    expect(isSame('192.0.2.7', '::ffff:192.0.2.7')).to.equal(true);
    expect(isSame('192.0.2.7', '192.0.2.8')).to.equal(false);
    expect(isSame('fe80::1%eth0', 'fe80::2')).to.equal(true);
    expect(isSame('2001:db8:1:2:3::7', '2001:db8:1:2:ffff::8')).to.equal(true);
    expect(isSame('2001:db8:1:2::7', '2001:db8:1:3::7')).to.equal(false);
    expect(clientOf('host')).to.equal('host');
  });

  it('are in a range, or beyond it', () => {
    const held = ['10.0.0.0/8', '2001:db8::/32'];
    const parsed = held.flatMap((range) => [parseRange(range) ?? expect.fail(range)]);
    const insides: [text: string, isInside: boolean][] = [
      ['10.255.0.1', true],
      ['::ffff:10.0.0.1', true],
      ['11.0.0.1', false],
      ['2001:db8:1::1', true],
      ['2001:db9::1', false],
      ['host', false],
    ];
    for (const [text, isInside] of insides) {
      expect(isAllowedFrom(text, held), text).to.equal(isInside);
      expect(inRanges(text, parsed), text).to.equal(isInside);
      expect(rangeBeyond(['10.1.0.0/16', text], held), text).to.equal(isInside ? undefined : text);
    }
    expect(isAllowedFrom('10.0.0.1', ['host'])).to.equal(false);
    expect(inRanges('10.9.9.9', [parseRange('::ffff:10.0.0.0/104') ?? expect.fail()])).to.equal(true);
    expect(inRanges('host', [parseRange('0.0.0.0/0') ?? expect.fail()])).to.equal(false);
    const beyond: [wanted: string[], string | undefined][] = [
      [['10.0.0.0/8', '10.1.0.0/16'], undefined],
      [['10.0.0.0/7'], '10.0.0.0/7'],
      [[], undefined],
    ];
    for (const [wanted, expected] of beyond) expect(rangeBeyond(wanted, held), wanted.join()).to.equal(expected);
  });
});

describe('the address of a source', () => {
  const [token, other] = [newIngestToken(), newIngestToken()];

  it('has a token, a path or both below it', () => {
    const belows: [...Parameters<typeof readBelow>, expected: object][] = [
      ['', 'required', true, { token: null, path: '' }],
      [`/${token}/a/b`, 'required', false, { token, path: '/a/b' }],
      ['/short', 'required', true, { token: 'short', path: '' }],
      [`/${token}`, 'none', true, { token: null, path: `/${token}` }],
      [`/${token}/a`, 'optional', true, { token, path: '/a' }],
      ['/orders/a', 'optional', true, { token: null, path: '/orders/a' }],
      ['/orders', 'optional', false, { token: 'orders', path: '' }],
    ];
    for (const [below, rule, allowsPaths, expected] of belows)
      expect(readBelow(below, rule, allowsPaths), `${below} ${rule}`).to.deep.equal(expected);
  });

  it('is valid with its token, and for a while with the one before', () => {
    const tokens = { current: token, previous: { token: other, untilMs: 100 } };
    const none = { current: null, previous: null };
    const asked: [IngestTokens, given: string | null, nowMs: number, boolean][] = [
      [{ rule: 'required', ...tokens }, token, 0, true],
      [{ rule: 'required', ...tokens }, other, 99, true],
      [{ rule: 'required', ...tokens }, other, 100, false],
      [{ rule: 'required', ...tokens }, newIngestToken(), 0, false],
      [{ rule: 'required', ...tokens }, null, 0, false],
      [{ rule: 'required', ...none }, token, 0, false],
      [{ rule: 'optional', ...tokens }, null, 0, true],
      [{ rule: 'optional', ...tokens }, token, 0, true],
      [{ rule: 'none', ...tokens }, null, 0, true],
      [{ rule: 'none', ...tokens }, token, 0, false],
    ];
    for (const [rule, given, nowMs, expected] of asked)
      expect(isIngestAddress(rule, given, nowMs), `${rule.rule} ${given} ${nowMs}`).to.equal(expected);
  });
});

describe('recipients of mails', () => {
  it('are those of the setting, else everybody, or those who have agreed where there are several organizations', () => {
    const rules: [setting: string[] | undefined, several: boolean, rule: string | string[], isRule: boolean][] = [
      [undefined, false, 'any', true],
      [[], true, 'confirmed', true],
      [['any'], true, 'any', true],
      [['confirmed'], false, 'confirmed', true],
      [['example.com', 'a-b.example'], true, ['example.com', 'a-b.example'], true],
      [['any', 'example.com'], true, 'any', false],
      [['confirmed', 'any'], true, 'confirmed', false],
      [['example.com', '-a.example'], true, ['example.com', '-a.example'], false],
    ];
    for (const [setting, several, rule, isRule] of rules) {
      expect(recipientRule(setting, several), setting?.join()).to.deep.equal(rule);
      expect(isRecipientRule(setting ?? []), setting?.join()).to.equal(isRule);
    }
  });

  it('have agreed, or are of a domain', () => {
    const confirmed = new Set(['ann@example.com']);
    const asked: [rule: Parameters<typeof mayReceive>[0], address: string, boolean][] = [
      ['any', 'bob@example.com', true],
      ['confirmed', 'Ann@Example.com', true],
      ['confirmed', 'bob@example.com', false],
      [['example.com'], 'Bob@EXAMPLE.com', true],
      [['example.com'], 'bob@sub.example.com', false],
      [['example.com'], '"a@example.com"@evil.example', false],
    ];
    for (const [rule, address, expected] of asked)
      expect(mayReceive(rule, address, confirmed), `${String(rule)} ${address}`).to.equal(expected);
  });

  it('are at most fifty valid addresses', () => {
    const list = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@example.com`).join(', ');
    const problem = (text: string) => emailList.safeParse(text).error?.issues[0]?.message ?? null;
    expect([problem(''), problem(' '), problem(list(50))]).to.deep.equal([null, null, null]);
    expect(problem(list(51))).to.equal('must contain at most 50 email addresses');
    expect(problem('a@example.com, nobody')).to.match(/"nobody" is not valid/);
  });
});
