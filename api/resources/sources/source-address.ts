// The address of a source: its unguessable part, and what a check of it is answered, as columns and in answers.
import { allows } from '../../../core/config/plans-and-scopes.ts';
import { type IngestTokenRule, newIngestToken } from '../../../core/ingest/ingest-url.ts';
import type { SentHandshake } from '../../../core/verification/handshakes.ts';
import { isRedacted, redactSecret } from '../../../core/text/redaction.ts';
import type { Source } from '../../../db/records/entities.ts';
import { noteSecretRead } from '../../auth/audit-trail.ts';
import { type ApiDeps, callerOf, type Context } from '../../request/context.ts';
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
  return { handshake, handshakeToken: sealedVerifyToken(deps, id, verifyToken, stored) };
}

function sealedVerifyToken(
  deps: Deps,
  id: string,
  sent: string | null | undefined,
  stored: Source | null,
): string | null {
  const kept = stored?.handshakeToken ?? null;
  if (sent === null) return null;
  if (sent === undefined) return kept;
  if (!isRedacted(sent)) {
    // Encrypted again, the same one would look changed.
    return stored && openToken(deps, stored) === sent ? kept : deps.secretBox.encrypt(sent, id);
  }
  if (kept === null) throw invalid('handshake.verifyToken', 'must be the full token because no token is stored');
  return kept;
}

/** The verify token in clear; null: there is none. */
export const openToken = (deps: Deps, { id, handshakeToken }: Source): string | null =>
  handshakeToken ? deps.secretBox.decrypt(handshakeToken, id) : null;

export function shownHandshake(deps: Deps, source: Source) {
  const token = openToken(deps, source);
  return source.handshake && { ...source.handshake, ...(token !== null && { verifyToken: redactSecret(token) }) };
}

/** @throws ApiError 400 when a check is to be answered with an HMAC, and the source has no secret to make it with */
export function requireHmacSecret(
  source: Pick<Source, 'verificationSecret'> & { handshake?: { type: string } | null | undefined },
): void {
  if (source.handshake?.type !== 'hmac' || source.verificationSecret) return;
  throw invalid('handshake.type', 'hmac requires a verificationConfig with a secret to generate the response');
}

/**
 * The columns that follow from a source's `ingestToken`: a token is made when there is none, and forgotten with the
 * rule.
 */
export function tokenColumns(deps: ApiDeps, id: string, rule: IngestTokenRule | undefined, stored: Source | null) {
  if (rule === 'none') return { ingestTokenValue: null, previousTokenValue: null, previousTokenUntil: null };
  if (rule === undefined || stored?.ingestTokenValue) return {};
  return sealedToken(deps, id);
}

export function sealedToken(deps: ApiDeps, id: string) {
  return { ingestTokenValue: deps.secretBox.encrypt(newIngestToken(), id) };
}

/**
 * The address to which the provider sends. Anyone who knows its token may send too, so a key that only reads gets it
 * masked, and who reads it is recorded.
 */
export function webhookUrl(ctx: Context, source: Source): string {
  const { organization } = callerOf(ctx);
  const url = `${ctx.deps.baseUrl()}/ingest/${organization.slug}/${source.slug}`;
  const { ingestTokenValue: sealed } = source;
  if (!sealed) return url;
  return `${url}/${shownSecret(ctx, source.id, sealed)}`;
}

/** The last handshake. What came with it may be the secret by which the provider signs. */
export function shownLastHandshake(ctx: Context, source: Source) {
  const { id, lastHandshakeKind: kind, lastHandshakeAt: at, lastHandshakeShown: shown } = source;
  if (kind == null || at == null) return null;
  return { kind, at, shown: shown ? shownSecret(ctx, id, shown) : null };
}

function shownSecret(ctx: Context, id: string, sealed: string): string {
  const { scopes } = callerOf(ctx).key;
  const secret = ctx.deps.secretBox.decrypt(sealed, id);
  if (!allows(scopes, 'sources:write') && !allows(scopes, 'secrets:read')) return redactSecret(secret);
  noteSecretRead(ctx, id);
  return secret;
}
