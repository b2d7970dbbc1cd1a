import { expect } from 'chai';
import fc from 'fast-check';
import { type AllowList, classifyAddress, parseAllowList, refusalOf } from '../../outbound/http/address-guard.ts';

const nothing = parseAllowList([]);
const isAllowed = (...asked: [address: string, host: string, allow: AllowList]) => refusalOf(...asked) === null;
// Every range there is, and a suffix: what an operator can open without naming one address.
const everyRange = parseAllowList(['0.0.0.0/0', '::/0', '127.0.0.0/8', '169.254.0.0/16', '::1/128', '.internal']);

/** Addresses in a range with random lower bits, as text. */
function within(prefix: number[], bits: number): fc.Arbitrary<string> {
  const parts = prefix.length === 4 ? 8 : 16;
  return fc.array(fc.nat(2 ** parts - 1), { minLength: prefix.length, maxLength: prefix.length }).map((random) => {
    const words = prefix.map((word, i) => {
      const fixed = Math.min(Math.max(bits - i * parts, 0), parts);
      const free = 2 ** (parts - fixed);
      return Math.floor(word / free) * free + ((random[i] ?? 0) % free);
    });
    return parts === 8 ? words.join('.') : words.map((word) => word.toString(16)).join(':');
  });
}

const v6 = (a: number, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0): number[] => [a, b, c, d, e, f, g, h];

// IANA's special-purpose registries. "private" opens by a range, "forbidden" only by an exact entry.
const ranges: [string, number[], number, 'private' | 'forbidden'][] = [
  ['RFC 791 this network', [0, 0, 0, 0], 8, 'forbidden'],
  ['RFC 1918', [10, 0, 0, 0], 8, 'private'],
  ['RFC 6598 carrier-grade NAT', [100, 65, 0, 0], 16, 'private'],
  ['loopback', [127, 0, 0, 0], 8, 'forbidden'],
  ['link-local', [169, 254, 0, 0], 16, 'forbidden'],
  ['RFC 1918', [172, 16, 0, 0], 12, 'private'],
  ['IETF protocol assignments', [192, 0, 0, 0], 24, 'forbidden'],
  ['TEST-NET-1', [192, 0, 2, 0], 24, 'forbidden'],
  ['6to4 relay', [192, 88, 99, 0], 24, 'forbidden'],
  ['RFC 1918', [192, 168, 0, 0], 16, 'private'],
  ['benchmarking', [198, 18, 0, 0], 15, 'forbidden'],
  ['TEST-NET-2', [198, 51, 100, 0], 24, 'forbidden'],
  ['TEST-NET-3', [203, 0, 113, 0], 24, 'forbidden'],
  ['multicast', [224, 0, 0, 0], 4, 'forbidden'],
  ['class E and broadcast', [240, 0, 0, 0], 4, 'forbidden'],
  ['IPv4-compatible', v6(0, 0, 0, 0, 0, 0, 0x7f00), 112, 'forbidden'],
  ['IPv4-mapped loopback', v6(0, 0, 0, 0, 0, 0xffff, 0x7f00), 104, 'forbidden'],
  ['IPv4-mapped link-local', v6(0, 0, 0, 0, 0, 0xffff, 0xa9fe), 112, 'forbidden'],
  ['IPv4-mapped RFC 1918', v6(0, 0, 0, 0, 0, 0xffff, 0x0a00), 104, 'private'],
  ['IPv4-translated', v6(0, 0, 0, 0, 0xffff), 96, 'forbidden'],
  ['NAT64 to loopback', v6(0x64, 0xff9b, 0, 0, 0, 0, 0x7f00), 104, 'forbidden'],
  ['NAT64 to link-local', v6(0x64, 0xff9b, 0, 0, 0, 0, 0xa9fe), 112, 'forbidden'],
  ['NAT64 to RFC 1918', v6(0x64, 0xff9b, 0, 0, 0, 0, 0x0a00), 104, 'forbidden'],
  ['local-use NAT64', v6(0x64, 0xff9b, 1), 48, 'forbidden'],
  ['discard', v6(0x100), 64, 'forbidden'],
  ['dummy prefix', v6(0x100, 0, 0, 1), 64, 'forbidden'],
  ['Teredo', v6(0x2001), 32, 'forbidden'],
  ['benchmarking', v6(0x2001, 2), 48, 'forbidden'],
  ['ORCHID', v6(0x2001, 0x10), 28, 'forbidden'],
  ['documentation', v6(0x2001, 0xdb8), 32, 'forbidden'],
  ['6to4', v6(0x2002), 16, 'forbidden'],
  ['documentation', v6(0x3fff), 20, 'forbidden'],
  ['segment routing', v6(0x5f00), 16, 'forbidden'],
  ['unassigned', v6(0x4000), 4, 'forbidden'],
  ['unassigned', v6(0x8000), 2, 'forbidden'],
  ['unique local', v6(0xfc00), 8, 'private'],
  ['AWS services', v6(0xfd00, 0xec2), 32, 'forbidden'],
  ['link-local', v6(0xfe80), 10, 'forbidden'],
  ['site-local', v6(0xfec0), 10, 'forbidden'],
  ['multicast', v6(0xff00), 8, 'forbidden'],
];

// Single addresses, in the spellings that slip through other guards.
const forbidden = [
  '127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:7f00:0001',
  '::1',
  '::',
  '0.0.0.0',
  '255.255.255.255',
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '169.254.170.2',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
  'fe80::1%lo',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b::a83f:8110',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '::127.0.0.1',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '100.100.100.200',
  '100:0:0:1::1',
  '192.0.0.192',
];

const open = [
  '1.1.1.1',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '168.63.129.17',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];

describe('address guard', () => {
  for (const address of open) {
    it(`lets ${address} through`, () => {
      expect(isAllowed(address, 'example.com', nothing)).to.equal(true);
    });
  }

  for (const address of forbidden) {
    it(`refuses ${address}, also when every range is open, and opens it by an exact entry`, () => {
      expect(isAllowed(address, 'example.com', nothing)).to.equal(false);
      expect(isAllowed(address, 'metadata.internal', everyRange)).to.equal(false);
      expect(isAllowed(address, 'example.com', parseAllowList([address]))).to.equal(true);
      expect(isAllowed(address, 'Receiver.', parseAllowList(['receiver']))).to.equal(true);
    });
  }

  // 40 ranges, 25 addresses each
  for (const [name, prefix, bits, tier] of ranges) {
    const byRange = tier === 'private';
    it(`refuses ${name} ${prefix.join(prefix.length === 4 ? '.' : ':')}/${bits}, which ${byRange ? 'a range opens' : 'no range opens'}`, () => {
      fc.assert(
        fc.property(within(prefix, bits), (address) => {
          expect(isAllowed(address, 'example.com', nothing), address).to.equal(false);
          // Metadata services inside a private range stay closed.
          const metadata = classifyAddress(address).name.includes('metadata');
          expect(isAllowed(address, 'example.com', everyRange), address).to.equal(byRange && !metadata);
          expect(isAllowed(address, 'a.internal', parseAllowList(['.internal'])), address).to.equal(
            byRange && !metadata,
          );
        }),
        { numRuns: 25 },
      );
    });
  }

  it('judges an IPv4-mapped address exactly as the IPv4 address it stands for', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        for (const allow of [nothing, everyRange]) {
          expect(refusalOf(`::ffff:${address}`, 'example.com', allow)).to.equal(
            refusalOf(address, 'example.com', allow),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what is no address, whatever is open', () => {
    for (const text of ['', 'localhost', '127.1', '0x7f.1', '2130706433', '1.2.3.4.5', '[::1]']) {
      expect(refusalOf(text, 'example.com', everyRange), text).to.equal('not an IP address');
    }
  });

  it('opens private addresses by range, exact address, host and suffix, and no others', () => {
    const allow = parseAllowList(['10.1.0.0/16', 'fd12::/16', '192.168.1.5', 'CRM.corp.example', '.Lab.example']);
    const cases: [string, string, boolean][] = [
      ['10.1.2.3', 'anything', true],
      ['10.2.2.3', 'anything', false],
      ['::ffff:10.1.2.3', 'anything', true],
      ['fd12::1', 'anything', true],
      ['fd13::1', 'anything', false],
      ['192.168.1.5', 'anything', true],
      ['192.168.1.6', 'anything', false],
      ['192.168.1.6', 'crm.corp.example', true],
      ['192.168.1.6', 'crm.corp.example.', true],
      ['192.168.1.6', 'x.crm.corp.example', false],
      ['192.168.1.6', 'a.b.lab.example', true],
      ['192.168.1.6', 'lab.example', false],
      ['192.168.1.6', 'evil-lab.example', false],
      ['127.0.0.1', 'a.lab.example', false],
    ];
    for (const [address, host, wanted] of cases) {
      expect(isAllowed(address, host, allow), `${address} as ${host}`).to.equal(wanted);
    }
  });
});

describe('allow list', () => {
  for (const entry of ['', '10.0.0.0/33', '127.1', '1.2.3', 'host:8080', 'http://host', '*.corp', '.', 'a b', '/8']) {
    it(`refuses the entry ${JSON.stringify(entry)} by name`, () => {
      expect(() => parseAllowList(['localhost', entry])).to.throw(Error, `HOOKYARD_DELIVERY_ALLOW: "${entry}"`);
    });
  }
});
