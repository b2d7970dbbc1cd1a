// RSA keys that nobody uses, with numbers at random: good to be read, and to have their length looked at.
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';

/** An odd number of exactly so many bits, as a JSON Web Key has it. */
function numberOf(bits: number): string {
  const bytes = randomBytes(bits / 8);
  bytes[0] = (bytes[0] ?? 0) | 0x80;
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return bytes.toString('base64url');
}

const USUAL_EXPONENT = 'AQAB';

/** @param bits of the modulus, and of the exponent where that is another one than 65537 */
export function oddPublicKey(bits: number, exponentBits?: number): KeyObject {
  const e = exponentBits === undefined ? USUAL_EXPONENT : numberOf(exponentBits);
  return createPublicKey({ key: { kty: 'RSA', n: numberOf(bits), e }, format: 'jwk' });
}

export function oddPrivateKey(bits: number): KeyObject {
  const half = () => numberOf(bits / 2);
  const primes = { p: half(), q: half(), dp: half(), dq: half(), qi: half() };
  const key = { kty: 'RSA', n: numberOf(bits), e: USUAL_EXPONENT, d: numberOf(bits), ...primes };
  return createPrivateKey({ key, format: 'jwk' });
}
