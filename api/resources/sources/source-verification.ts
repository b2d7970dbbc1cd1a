// How a source verifies what it receives, as columns of its record: by a type of its own (core/verification/config.ts)
// or by its provider (providers/). Public members stand in clear, secrets encrypted.
import { z } from 'zod';
import { extendsRedacted, isRedacted, NEEDS_FULL_SECRET } from '../../../core/text/redaction.ts';
import {
  confirmsSubscriptions,
  openCredentials,
  PROVIDER_TYPE,
  providerOf,
  publicVerificationConfig,
  sealedCredentials,
  takesSecret,
  type VerificationConfig,
  verificationConfigSchema,
} from '../../../core/verification/config.ts';
import { type Credentials, secretProblem } from '../../../core/verification/index.ts';
import { ADVISED_SECRET_LENGTH, secretSchema } from '../../../core/verification/scheme.ts';
import type { Source } from '../../../db/records/entities.ts';
import { type Provider, providerNamed, senderOf } from '../../../providers/index.ts';
import type { ApiDeps } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { checkMember } from '../../request/validation.ts';
import { openToken } from './source-address.ts';

type SentConfig = Record<string, unknown> | null | undefined;
type Deps = Pick<ApiDeps, 'secretBox'>;
type Columns = Pick<Source, 'provider' | 'verification' | 'verificationSecret'> &
  Partial<Pick<Source, 'previousVerificationSecret' | 'previousSecretUntil'>>;

// A secret that is set by an update counts alone, and at once.
const NOT_ROTATED = { previousVerificationSecret: null, previousSecretUntil: null };

/** The columns of a new source. @throws ApiError 400 */
export function newVerification(deps: Deps, id: string, member: string | null, sent: SentConfig): Columns {
  const { provider, config } = namedProvider(member ?? undefined, sent);
  return provider === undefined || provider === null
    ? ownColumns(deps, id, config ?? { type: 'none' }, undefined)
    : providedColumns(deps, id, knownProvider(provider), config ?? {}, null);
}

/**
 * The provider that a request names, as a member of the source or of its verificationConfig, and the config without it.
 * @throws ApiError 400 when it names two
 */
function namedProvider(member: string | null | undefined, sent: SentConfig) {
  if (!sent || !('provider' in sent)) return { provider: member, config: sent };
  const { provider, ...config } = sent;
  if (typeof provider !== 'string') return { provider: member, config };
  if (member !== undefined && member !== provider)
    throw invalid('verificationConfig.provider', `must be the same as provider (${member}) or omitted`);
  return { provider, config };
}

/** The columns that an update changes. @throws ApiError 400 */
export function changedVerification(
  deps: Deps,
  stored: Source,
  member: string | null | undefined,
  sent: SentConfig,
): Columns | undefined {
  const { provider, config } = namedProvider(member, sent);
  const before = providerOf(stored);
  if (config === undefined && (provider === undefined || provider === before)) return undefined;
  // A verificationConfig of another type takes the place of the provider, unless the provider is sent too.
  const isOwn = config === null || (config?.type !== undefined && config.type !== PROVIDER_TYPE);
  const after = provider === undefined ? (isOwn ? null : before) : provider;
  if (after === null) {
    if (config === undefined) throw invalid('verificationConfig', 'is required if provider is null');
    const isSameType = before === null && config?.type === stored.verification.type;
    const current = (isSameType && openStored(deps, stored).secret) || undefined;
    const columns = ownColumns(deps, stored.id, config ?? { type: 'none' }, current);
    return current !== undefined && isKept(config?.secret) ? columns : { ...columns, ...NOT_ROTATED };
  }
  const current =
    after === before
      ? { ...openStored(deps, stored), confirmSubscriptions: confirmsSubscriptions(stored.verification) }
      : null;
  const columns = providedColumns(deps, stored.id, knownProvider(after), config ?? {}, current);
  const isSameSecret = current !== null && isKept(config?.secret) && columns.verificationSecret !== null;
  return isSameSecret ? columns : { ...columns, ...NOT_ROTATED };
}

/**
 * The columns of a source that is replaced. A script that leaves the verification out does not mean to turn it off, so
 * it stays. A secret stays if it is left out of a config of the same type, and one that is sent again changes nothing.
 * @throws ApiError 400
 */
export function replacedVerification(
  deps: Deps,
  stored: Source,
  member: string | null | undefined,
  sent: SentConfig,
): Partial<Columns> {
  const { provider, config } = namedProvider(member ?? undefined, sent);
  if (config === undefined && member === undefined) return {};
  const named = provider ?? (member === null ? null : undefined);
  const columns = changedVerification(deps, stored, named, provider === undefined ? config : (config ?? {}));
  if (columns === undefined) return {};
  const inClear = (sealed: string | null | undefined) => (sealed ? deps.secretBox.decrypt(sealed, stored.id) : null);
  if (inClear(columns.verificationSecret) !== inClear(stored.verificationSecret)) return columns;
  // Encrypted again it would look changed, and a rotation would end.
  return { provider: columns.provider, verification: columns.verification };
}

/** The secret in clear that a rotation replaces; null when there is none. */
export const openSecret = (deps: Deps, source: Source): string | null => openStored(deps, source).secret || null;

export function secretWarnings(deps: Deps, source: Source): string[] {
  const provider = providerNamed(providerOf(source) ?? '');
  const { secret, verifyToken } = openStored(deps, source);
  const shortest = provider?.secret.shortest ?? ADVISED_SECRET_LENGTH;
  return [
    ...tooShort('verificationConfig.secret', secret, shortest),
    ...tooShort('verificationConfig.verifyToken', verifyToken),
    ...tooShort('handshake.verifyToken', openToken(deps, source)),
  ];
}

function tooShort(member: string, text: string | null | undefined, shortest = ADVISED_SECRET_LENGTH): string[] {
  if (!text || text.length >= shortest) return [];
  return [
    `${member} has fewer than ${shortest} characters and can be guessed; replace it as soon as the sender can change it (to generate a long secret, run openssl rand -hex 32)`,
  ];
}

/** As `withSecret`, of a secret that is new. @throws ApiError 400 when it is of another form than the provider's */
export function withNewSecret(deps: Deps, source: Source, secret: string): string {
  const sender = senderOf(source);
  if (sender === null) throw unknownProvider();
  const problem = secretProblem(sender.verification, secret);
  if (problem !== null) throw invalid('secret', problem);
  return withSecret(deps, source, secret);
}

export function withSecret(deps: Deps, source: Source, secret: string): string {
  return deps.secretBox.encrypt(sealedCredentials({ ...openStored(deps, source), secret }), source.id);
}

function ownColumns(deps: Deps, id: string, config: Record<string, unknown>, current: string | undefined) {
  if (config.type === PROVIDER_TYPE)
    throw invalid('provider', `is required for a verificationConfig of type "${PROVIDER_TYPE}"`);
  const checked = withStoredSecret(config, current);
  return {
    provider: null,
    verification: publicVerificationConfig(checked),
    verificationSecret: sealedSecrets(deps, id, 'secret' in checked ? checked.secret : null),
  };
}

/** Null: there is nothing to encrypt. */
function sealedSecrets(deps: Deps, id: string, secret: string | null | undefined, verifyToken?: string): string | null {
  if (secret === null || secret === undefined) return null;
  return deps.secretBox.encrypt(sealedCredentials({ secret, ...(verifyToken !== undefined && { verifyToken }) }), id);
}

/**
 * Checks a verificationConfig.
 * @param current the stored secret, if its type is the same: then it may be omitted or sent back masked
 */
function withStoredSecret(config: Record<string, unknown>, current: string | undefined): VerificationConfig {
  const known = isKept(config.secret) && takesSecret(config) ? { ...config, secret: current } : config;
  return checkMember('verificationConfig', verificationConfigSchema, known);
}

function providedColumns(
  deps: Deps,
  id: string,
  provider: Provider,
  config: Record<string, unknown>,
  stored: (Credentials & { confirmSubscriptions: boolean }) | null,
): Columns {
  const keptOf = (name: 'secret' | 'verifyToken') => (isKept(config[name]) ? stored?.[name] : undefined);
  const kept = { secret: keptOf('secret'), verifyToken: keptOf('verifyToken') };
  const known = {
    ...config,
    ...(kept.secret && { secret: kept.secret }),
    ...(kept.verifyToken && { verifyToken: kept.verifyToken }),
  };
  const checked = checkMember('verificationConfig', configSchema(provider, kept), known);
  const { secret, verifyToken, confirmSubscriptions = stored?.confirmSubscriptions ?? false } = checked as Checked;
  return {
    provider: provider.name,
    verification: { type: PROVIDER_TYPE, ...(asksToConfirm(provider) && { confirmSubscriptions }) },
    verificationSecret: sealedSecrets(deps, id, secret, verifyToken),
  };
}

interface Checked {
  secret?: string | null;
  verifyToken?: string;
  confirmSubscriptions?: boolean;
}

const asksToConfirm = ({ handshakes }: Provider) => handshakes?.some(({ kind }) => kind === 'subscription') ?? false;

/** @param kept what is stored already, and was checked when it was new */
function configSchema(provider: Provider, kept: Partial<Credentials>) {
  const { verification: scheme } = provider;
  const secret = secretSchema.superRefine((text, context) => {
    const problem = secretProblem(scheme, text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
  const secretType = kept.secret === undefined ? secret : z.string();
  const tokenType = kept.verifyToken === undefined ? secretSchema : z.string();
  return z.object({
    type: z
      .literal(PROVIDER_TYPE, { error: `must be "${PROVIDER_TYPE}" or omitted because the source has a provider` })
      .optional(),
    // Null forgets what the provider has sent in its handshake.
    secret: provider.secret.is === null ? secretType.nullish() : secretType,
    ...(provider.verifyToken !== undefined && { verifyToken: tokenType }),
    ...(asksToConfirm(provider) && { confirmSubscriptions: z.boolean().optional() }),
  });
}

function knownProvider(name: string): Provider {
  const provider = providerNamed(name);
  if (provider === undefined) throw unknownProvider();
  return provider;
}

const unknownProvider = () =>
  invalid(
    'provider',
    'must be a provider that this version of Hookyard supports; GET /api/providers lists the supported providers',
  );

function openStored(deps: Deps, { id, verificationSecret }: Source): Credentials {
  return openCredentials(verificationSecret ? deps.secretBox.decrypt(verificationSecret, id) : null);
}

/** @throws ApiError 400 when a new secret was typed behind the masked one */
function isKept(secret: unknown): boolean {
  if (typeof secret !== 'string') return secret === undefined;
  if (extendsRedacted(secret)) throw invalid('verificationConfig.secret', NEEDS_FULL_SECRET);
  return isRedacted(secret);
}
