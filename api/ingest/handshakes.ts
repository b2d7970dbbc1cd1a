// What handshakes leave behind. Which were answered: the last one of each source is shown with it. One costs memory
// only; every second what has come together is stored in one statement. And the secret that a provider sends in one,
// which is stored before it is answered.
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { every, type PollLoop } from '../../core/process/poll-loop.ts';
import { recordedAgent } from '../../core/http/headers.ts';
import { sealedCredentials } from '../../core/verification/config.ts';
import type { Reply } from '../../core/verification/handshakes.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { type Handshaken, recordHandshakes, rememberSecret } from '../../db/organizations/handshakes.ts';
import type { Pool, Queryable } from '../../db/connections/pool.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

const EVERY_MS = 1000;
// Strangers can cause one for each source with a provider.
const MAX_PENDING = 10_000;

interface HandshakeDeps {
  pool: Queryable;
  secretBox: SecretBox;
  log: Log;
}

export class Handshakes {
  readonly #deps: HandshakeDeps;
  readonly #loop: PollLoop;
  #pending = new Map<string, Handshaken>();

  constructor(deps: HandshakeDeps) {
    this.#deps = deps;
    this.#loop = every(
      EVERY_MS,
      () => this.#store(),
      (error) => this.#lost(error),
    );
  }

  note(sourceId: string, { handshake: kind, shown }: Reply, at: Date): void {
    if (this.#pending.size >= MAX_PENDING && !this.#pending.has(sourceId)) return;
    // It may be a secret.
    const sealed = shown === undefined ? null : this.#deps.secretBox.encrypt(shown, sourceId);
    this.#pending.set(sourceId, { sourceId, kind, at, shown: sealed });
  }

  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#store().catch((error: unknown) => this.#lost(error));
  }

  async #store(): Promise<void> {
    const taken = [...this.#pending.values()];
    this.#pending = new Map();
    if (taken.length > 0) await recordHandshakes(this.#deps.pool, taken);
  }

  // Failure policy: they are lost. The provider was answered, and a source whose handshake is not shown works all the
  // same.
  #lost(error: unknown): void {
    throttled(this.#deps.log).warn({ cause: causeOf(error) }, 'failed to store handshakes');
  }
}

/**
 * Stores the secret of a handshake before that is answered.
 * @returns whether it is the secret of the source; also when none was sent
 */
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
