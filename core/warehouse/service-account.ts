// The key of a service account of Google.
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { isShortRsa, MAX_RSA_BITS } from '../verification/published-keys.ts';

/** The members of a service account key that are used. */
export type ServiceAccount = { clientEmail: string; privateKey: string; privateKeyId: string | undefined };

const serviceAccount = z.object({
  type: z.literal('service_account'),
  client_email: z.email(),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  universe_domain: z.literal('googleapis.com').optional(),
});

/**
 * Reads a service account key for use.
 * @throws Error whose message is the end of a sentence that starts with the field; it never quotes the key
 */
export function readServiceAccountKey(json: string): ServiceAccount {
  const account = parseServiceAccountKey(json);
  if (!isRsaKey(account.privateKey))
    throw new Error(`${NO_KEY}; its "private_key" is not a private RSA key in PEM of at most ${MAX_RSA_BITS} bits`);
  return account;
}

/**
 * Reads the members of a service account key. Other kinds of Google credentials name files, programs and addresses to ask;
 * they are refused. Whether the private key is one is found out when it is used: a test upload says so.
 */
function parseServiceAccountKey(json: string): ServiceAccount {
  const parsed = serviceAccount.safeParse(parseJson(json));
  if (!parsed.success) {
    const member = parsed.error.issues[0]?.path[0];
    throw new Error(
      member === undefined ? NO_KEY : `${NO_KEY}; its "${String(member)}" is missing or not of such a key`,
    );
  }
  const { client_email: clientEmail, private_key: privateKey, private_key_id: privateKeyId } = parsed.data;
  return { clientEmail, privateKey, privateKeyId };
}

const NO_KEY = 'must be the JSON text of a service account key, as downloaded from Google Cloud';

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isRsaKey(pem: string): boolean {
  try {
    return isShortRsa(createPrivateKey(pem));
  } catch {
    return false;
  }
}

/** What is wrong with a key, as the end of a sentence that starts with its name; null when nothing is. */
export function serviceAccountProblem(json: string): string | null {
  try {
    parseServiceAccountKey(json);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : NO_KEY;
  }
}
