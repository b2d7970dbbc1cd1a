// The header with which a proxy names the client at the start of a TCP connection: "The PROXY protocol", versions 1 and 2
// (haproxy.org, proxy-protocol.txt, section 2).
import ipaddr from 'ipaddr.js';
import { normalAddress } from '../../core/address-ranges.ts';

/** `client` is null when the proxy speaks for itself (a health check), or knows no address. */
export interface ProxyHeader {
  client: string | null;
  /** Length of the header; HTTP begins behind it. */
  bytes: number;
}

/** `incomplete`: everything so far can be the start of a header. `malformed`: nothing that follows can make it one. */
export type ProxyHeaderResult = ProxyHeader | 'incomplete' | 'malformed';

// Section 2.1: the longest line of version 1, with its CRLF.
const MAX_LINE = 107;
const V1_START = Buffer.from('PROXY ');
// Section 2.2.
const V2_SIGNATURE = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const V2_FIXED = 16;
/** Longest header that is read: the fixed part, addresses, and what a proxy tells about TLS. */
export const MAX_PROXY_HEADER = 4096;

/** Reads the header at the start of what a connection has sent. */
export function readProxyHeader(bytes: Buffer): ProxyHeaderResult {
  if (startsAlike(bytes, V2_SIGNATURE)) return bytes.length < V2_FIXED ? 'incomplete' : readV2(bytes);
  if (startsAlike(bytes, V1_START)) return readV1(bytes);
  return 'malformed';
}

/** Whether one begins with the other, whichever is shorter. */
function startsAlike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

// `PROXY TCP4 <source> <destination> <source port> <destination port>`, or `PROXY UNKNOWN` and anything.
const TCP_LINE = /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/;
const UNKNOWN_LINE = /^PROXY UNKNOWN(?: [\x20-\x7e]*)?$/;

function readV1(bytes: Buffer): ProxyHeaderResult {
  const end = bytes.subarray(0, MAX_LINE).indexOf('\r\n');
  if (end < 0) return bytes.length < MAX_LINE ? 'incomplete' : 'malformed';
  const line = bytes.toString('latin1', 0, end);
  const length = end + 2;
  if (UNKNOWN_LINE.test(line)) return { client: null, bytes: length };
  const match = TCP_LINE.exec(line);
  if (match === null) return 'malformed';
  const [, version, source = '', destination = '', ...ports] = match;
  const isValid = (text: string) => normalAddress(text) !== null && text.includes(':') === (version === '6');
  if (!isValid(source) || !isValid(destination) || ports.some((port) => Number(port) > 65_535)) return 'malformed';
  return { client: normalAddress(source), bytes: length };
}

const [LOCAL, PROXY] = [0x20, 0x21];
/** Length of the addresses and ports, and of one address, by family. TCP only: HTTP has no datagrams. */
const V2_FAMILIES: ReadonlyMap<number, { block: number; address: number }> = new Map([
  [0x11, { block: 12, address: 4 }],
  [0x21, { block: 36, address: 16 }],
]);
// Unspecified, and Unix sockets, which have no address that means anything here.
const WITHOUT_ADDRESS: readonly number[] = [0x00, 0x31];

function readV2(bytes: Buffer): ProxyHeaderResult {
  const [versionAndCommand, familyAndProtocol] = [bytes.readUInt8(12), bytes.readUInt8(13)];
  const rest = bytes.readUInt16BE(14);
  const length = V2_FIXED + rest;
  if ((versionAndCommand !== LOCAL && versionAndCommand !== PROXY) || length > MAX_PROXY_HEADER) return 'malformed';
  if (bytes.length < length) return 'incomplete';
  // "The receiver must accept this connection as valid and must use the real connection endpoints."
  if (versionAndCommand === LOCAL || WITHOUT_ADDRESS.includes(familyAndProtocol))
    return { client: null, bytes: length };
  const family = V2_FAMILIES.get(familyAndProtocol);
  if (family === undefined || rest < family.block) return 'malformed';
  const source = bytes.subarray(V2_FIXED, V2_FIXED + family.address);
  return { client: normalAddress(ipaddr.fromByteArray([...source]).toString()), bytes: length };
}
