// What a source answers to a check of its address, as columns of its record and as answers show it.
// Rules: SRC-55, SRC-56.
import { isRedacted, redactSecret } from '../../../core/text/redaction.ts';
import type { SentHandshake } from '../../../core/ingest/source-handshake.ts';
import type { Source } from '../../../db/entities.ts';
import type { ApiDeps } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';

type Deps = Pick<ApiDeps, 'secretBox'>;
type Columns = Partial<Pick<Source, 'handshake' | 'handshakeToken'>>;

/**
 * The columns of a sent handshake; none when nothing was sent. A verify token that is left out, or sent masked, stays.
 * @param stored null: the source is new @throws ApiError 400
 */
export function handshakeColumns(
  deps: Deps,
  id: string,
  sent: SentHandshake | null | undefined,
  stored: Source | null,
): Columns {
  if (sent === undefined) return {};
  if (sent?.type !== 'echo') return { handshake: sent, handshakeToken: null };
  const { verifyToken, ...handshake } = sent;
  return { handshake, handshakeToken: sealedToken(deps, id, verifyToken, stored) };
}

function sealedToken(deps: Deps, id: string, sent: string | null | undefined, stored: Source | null): string | null {
  const kept = stored?.handshakeToken ?? null;
  if (sent === null) return null;
  if (sent === undefined) return kept;
  if (!isRedacted(sent)) {
    // Encrypted again, the same one would look changed.
    return stored && openToken(deps, stored) === sent ? kept : deps.secretBox.encrypt(sent, id);
  }
  if (kept === null) throw invalid('handshake.verifyToken', 'must be the whole token: there is none stored to keep');
  return kept;
}

/** The verify token in clear; null: there is none. */
export const openToken = (deps: Deps, { id, handshakeToken }: Source): string | null =>
  handshakeToken ? deps.secretBox.decrypt(handshakeToken, id) : null;

/** With its verify token masked. */
export function shownHandshake(deps: Deps, source: Source) {
  const token = openToken(deps, source);
  return source.handshake && { ...source.handshake, ...(token !== null && { verifyToken: redactSecret(token) }) };
}

/** @throws ApiError 400 when a check is to be answered with an HMAC, and the source has no secret to make it with */
export function requireHmacSecret(
  source: Pick<Source, 'verificationSecret'> & { handshake?: { type: string } | null | undefined },
): void {
  if (source.handshake?.type !== 'hmac' || source.verificationSecret) return;
  throw invalid('handshake.type', 'hmac needs a verificationConfig with a secret, with which the answer is made');
}
