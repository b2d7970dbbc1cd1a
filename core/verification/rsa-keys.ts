// Which RSA keys of others are used. Work with one grows with the square of its length and with that of its exponent, and with a private
// one even faster: a signature with 16,384 bits takes seconds in which nothing else happens.
import type { KeyObject } from 'node:crypto';

export const MAX_RSA_BITS = 4096;
// 65537 is what everybody has; a few have 3 or 17.
const MAX_EXPONENT = 2n ** 17n;

/** Whether it is an RSA key, and one of at most as many bits as are in use. */
export function isShortRsa({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType !== 'rsa') return false;
  const { modulusLength = Number.POSITIVE_INFINITY, publicExponent = MAX_EXPONENT } = asymmetricKeyDetails ?? {};
  return modulusLength <= MAX_RSA_BITS && publicExponent < MAX_EXPONENT;
}
