// Removes the secrets whose rotation is over.
import type { Queryable } from '../connections/pool.ts';

// Processes whose clocks are behind may still use them.
const MARGIN = "interval '1 hour'";

const FORGET = [
  `update destinations set previous_signing_secret = null, previous_signing_secret_until = null
   where previous_signing_secret_until < now() - ${MARGIN}`,
  `update sources set previous_verification_secret = null, previous_secret_until = null
   where previous_secret_until < now() - ${MARGIN}`,
  `update sources set previous_token_value = null, previous_token_until = null
   where previous_token_until < now() - ${MARGIN}`,
  `update alert_channels set previous_secret = null, previous_secret_until = null
   where previous_secret_until < now() - ${MARGIN}`,
];

export async function forgetRotatedSecrets(db: Queryable): Promise<void> {
  for (const statement of FORGET) await db.query(statement);
}
