const BYTES = 32;

/** A new secret of Standard Webhooks signatures: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
