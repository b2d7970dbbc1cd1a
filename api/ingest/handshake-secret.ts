// The secret that a provider sends in its handshake.
// Rules: PRV-13.
import { sealedCredentials } from '../../core/verification/provider-config.ts';
import { recordedAgent } from '../../core/delivery/recorded-agent.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { rememberSecret } from '../../db/handshakes.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

/** Stores it before the handshake is answered. @returns whether it is the secret of the source; also when none was sent */
export async function acceptHandshakeSecret(
  { pool, secretBox }: { pool: Pool; secretBox: SecretBox },
  { organizationId, sourceId }: SourceRouting,
  { clientAddress, headers }: Received,
  secret: string | undefined,
): Promise<boolean> {
  if (secret === undefined) return true;
  const sealed = secretBox.encrypt(sealedCredentials({ secret }), sourceId);
  const userAgent = recordedAgent(headers['user-agent'] ?? '');
  return rememberSecret(pool, { organizationId, sourceId, sealed, address: clientAddress, userAgent });
}
