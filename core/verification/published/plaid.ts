// Plaid, "Verify webhooks": the key of a token is asked for by its id, with the credentials of the client.
// https://plaid.com/docs/api/webhooks/webhook-verification/
import { jsonOf, memberOf } from '../request.ts';
import { type KeyDocument, type KeySet, readKey } from './keys.ts';

const FORM = /^(sandbox|production):([^:]{1,256}):(.{1,1024})$/;

/** What is wrong with what the owner enters; null when nothing is. */
export const plaidProblem = (secret: string): string | null =>
  FORM.test(secret) ? null : 'must be sandbox or production, a colon, the client_id, a colon and the secret';

export function plaidKey(secret: string, keyId: string): KeyDocument {
  const [, environment = 'production', clientId = '', clientSecret = ''] = FORM.exec(secret) ?? [];
  return {
    url: `https://${environment}.plaid.com/webhook_verification_key/get`,
    post: { client_id: clientId, secret: clientSecret, key_id: keyId },
    isNamedByWebhook: true,
    read,
    // Wrong credentials of the client are 400, too.
    isNone: (status, text) =>
      status === 400 && memberOf(json(text), 'error_code') === 'INVALID_WEBHOOK_VERIFICATION_KEY_ID',
  };
}

const json = (text: string) => jsonOf(Buffer.from(text));

function read(text: string): KeySet | null {
  const jwk = memberOf(json(text), 'key');
  const key = readKey(jwk);
  if (key === null) return null;
  const isExpired = typeof memberOf(jwk, 'expired_at') === 'number';
  return new Map(isExpired ? [] : key);
}
