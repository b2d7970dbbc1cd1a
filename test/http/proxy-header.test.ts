// The PROXY protocol, by the examples and rules of its specification (proxy-protocol.txt, section 2).
import { expect } from 'chai';
import { MAX_PROXY_HEADER, readProxyHeader } from '../../api/clients/proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const v1 = (line: string) => Buffer.from(`${line}\r\n`, 'latin1');
const rest = Buffer.from('POST / HTTP/1.1\r\n');

const ADDRESSES_V4 = 'c0000201 c6336402 1234 0050';
const ADDRESSES_V6 = `20010db8000000000000000000000001 20010db8000000000000000000000002 1234 0050`;

const VALID: [string, Buffer, string | null][] = [
  ['version 1, IPv4', v1('PROXY TCP4 192.0.2.1 198.51.100.2 56324 443'), '192.0.2.1'],
  ['version 1, IPv6', v1('PROXY TCP6 2001:db8::1 2001:db8::2 56324 443'), '2001:db8::1'],
  ['version 1, unknown', v1('PROXY UNKNOWN'), null],
  ['version 1, unknown with more', v1('PROXY UNKNOWN ffff:f::1 ffff:f::2 65535 65535'), null],
  ['version 2, IPv4', hex(`${SIGNATURE} 21 11 000c ${ADDRESSES_V4}`), '192.0.2.1'],
  ['version 2, IPv6', hex(`${SIGNATURE} 21 21 0024 ${ADDRESSES_V6}`), '2001:db8::1'],
  ['version 2, IPv4 with an extension', hex(`${SIGNATURE} 21 11 0010 ${ADDRESSES_V4} 04 0001 00`), '192.0.2.1'],
  ['version 2, a health check', hex(`${SIGNATURE} 20 00 0000`), null],
  ['version 2, a health check with addresses', hex(`${SIGNATURE} 20 11 000c ${ADDRESSES_V4}`), null],
  ['version 2, unspecified', hex(`${SIGNATURE} 21 00 0000`), null],
];

const MALFORMED: [string, Buffer][] = [
  ['HTTP without a header', rest],
  ['another word', v1('PROXX TCP4 192.0.2.1 198.51.100.2 1 2')],
  ['another family', v1('PROXY UDP4 192.0.2.1 198.51.100.2 1 2')],
  ['an IPv6 address as IPv4', v1('PROXY TCP4 2001:db8::1 198.51.100.2 1 2')],
  ['no address', v1('PROXY TCP4 name.example 198.51.100.2 1 2')],
  ['an octal address', v1('PROXY TCP4 0300.0.2.1 198.51.100.2 1 2')],
  ['a port too large', v1('PROXY TCP4 192.0.2.1 198.51.100.2 65536 2')],
  ['two spaces', v1('PROXY TCP4  192.0.2.1 198.51.100.2 1 2')],
  ['a bare line feed', Buffer.from(`PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n${'x'.repeat(107)}`)],
  ['a line without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(107)}`)],
  ['another version', hex(`${SIGNATURE} 11 11 000c ${ADDRESSES_V4}`)],
  ['another command', hex(`${SIGNATURE} 22 11 000c ${ADDRESSES_V4}`)],
  ['datagrams', hex(`${SIGNATURE} 21 12 000c ${ADDRESSES_V4}`)],
  ['addresses that are too short', hex(`${SIGNATURE} 21 11 0008 c0000201 c6336402`)],
  ['a length beyond the largest', hex(`${SIGNATURE} 21 11 ffff ${ADDRESSES_V4}`)],
];

describe('the PROXY header', () => {
  for (const [what, header, client] of VALID) {
    it(`is read: ${what}`, () => {
      expect(readProxyHeader(Buffer.concat([header, rest]))).to.deep.equal({ client, bytes: header.length });
    });

    it(`is waited for, however little has come: ${what}`, () => {
      // What ends "UNKNOWN" may be any text, so only the last byte decides.
      for (let length = 0; length < header.length; length += 1) {
        expect(readProxyHeader(header.subarray(0, length)), String(length)).to.equal('incomplete');
      }
    });
  }

  for (const [what, bytes] of MALFORMED) {
    it(`is refused: ${what}`, () => expect(readProxyHeader(bytes)).to.equal('malformed'));
  }

  it('is never larger than what is read of it', () => {
    expect(
      readProxyHeader(hex(`${SIGNATURE} 21 11 ${(MAX_PROXY_HEADER - 16).toString(16).padStart(4, '0')}`)),
    ).to.equal('incomplete');
  });
});
