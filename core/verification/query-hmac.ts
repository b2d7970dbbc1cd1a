// Checks of an address that are answered with the HMAC of a parameter. Anyone may ask for it, and the sender signs its webhooks with the
// same secret. So only texts are signed of which no webhook consists: letters, digits, `_`, `+`, `/` and `-`, with the padding of base64.
// Rules: INGEST-27.
import { hmac, type SignatureAlgorithm, type SignatureEncoding } from '../signatures/scheme.ts';

export interface QueryHmac {
  parameter: string;
  algorithm: SignatureAlgorithm;
  encoding: SignatureEncoding;
  /** Before the HMAC. */
  prefix: string;
}

const SIGNABLE = /^[\w+/-]{1,512}={0,2}$/;
const MAX_SIGNABLE = 514;

/** Null when it is not asked for. */
export function queryHmac(
  { parameter, algorithm, encoding, prefix }: QueryHmac,
  secret: string,
  query: URLSearchParams,
): { token: string; signature: string } | null {
  const token = query.get(parameter);
  if (token === null || secret === '' || !SIGNABLE.test(token)) return null;
  return { token, signature: prefix + hmac(algorithm, secret, token).toString(encoding) };
}

/**
 * Whether anyone can ask for the signature of a webhook with this body. Whatever its template holds beside the body: if all of it is
 * signable, so is the body, or it is empty.
 */
export const isSignable = (body: Buffer): boolean =>
  body.length === 0 || (body.length <= MAX_SIGNABLE && SIGNABLE.test(body.toString('latin1')));
