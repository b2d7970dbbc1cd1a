// Makes sources and replaces them, and which members go together with how a source verifies.
import type { EntityData } from '@mikro-orm/core';
import type { z } from 'zod';
import { newId } from '../../../core/text/ids.ts';
import { isSigned, needsPublishedKeys } from '../../../core/verification/index.ts';
import { providerOf } from '../../../core/verification/config.ts';
import { Source } from '../../../db/records/entities.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import { providerNamed, senderOf } from '../../../providers/index.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRecordRoom } from '../../auth/request-and-record-limits.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import * as field from '../fields.ts';
import { changedMembers, changeRecord, findSource, orDuplicateSlug, transactional } from '../records.ts';
import { handshakeColumns, requireHmacSecret, tokenColumns } from './source-address.ts';
import { type createSourceSchema, sourceDefaults } from './source-members.ts';
import { newVerification, replacedVerification } from './source-verification.ts';

type Checked = Pick<Source, 'provider' | 'verification' | 'verificationSecret' | 'ingestToken' | 'concealed'> &
  Partial<Pick<Source, 'idempotencyKey' | 'handshake'>>;

/** @throws ApiError 400 when members do not go together */
function requireConsistent(source: Checked): void {
  requireSignature(source);
  requireGuarded(source);
  requireUntold(source);
  requireHmacSecret(source);
}

/** @throws ApiError 400 when repeats are to be known by a signature that requests do not have */
function requireSignature(source: Checked): void {
  if (!source.idempotencyKey?.signature) return;
  if (source.verification.type === 'none')
    throw invalid('idempotencyKey.signature', 'requires a verificationConfig of a type other than none');
  const sender = senderOf(source);
  if (sender === null || isSigned(sender.verification)) return;
  const provider = providerOf(source);
  throw invalid(
    'idempotencyKey.signature',
    provider
      ? `requires a provider that signs its webhooks, but ${provider} does not`
      : `requires a verificationConfig with a signature that covers the body, but ${source.verification.type} has none`,
  );
}

/**
 * @throws ApiError 400 when anyone who knows the names of a source could give it the secret that only its provider
 * knows: the first that comes is remembered
 */
function requireGuarded(source: Checked): void {
  const provider = providerOf(source);
  const { verificationSecret, ingestToken } = source;
  if (!provider || verificationSecret || ingestToken === 'required' || providerNamed(provider)?.secret.is !== null)
    return;
  throw invalid(
    'ingestToken',
    `must be "required" until ${provider} has sent its secret, because the first secret received is stored`,
  );
}

/**
 * @throws ApiError 400 when the time that it takes to fetch a key would tell strangers of a source that must look like
 * none
 */
function requireUntold(source: Checked): void {
  const sender = senderOf(source);
  if (!source.concealed || source.ingestToken === 'required' || !sender) return;
  if (!needsPublishedKeys(sender.verification)) return;
  const whose = providerOf(source) ?? 'the sender';
  throw invalid(
    'ingestToken',
    `must be "required" for a concealed source because the time taken to fetch a key from ${whose} would reveal the source`,
  );
}

type Input = z.output<typeof createSourceSchema>;

/** @throws ApiError 400, 409 DUPLICATE_SLUG, 429 */
export async function makeSource(
  ctx: Context,
  { verificationConfig: config, provider = null, handshake = null, ...body }: Input,
): Promise<Source> {
  const id = newId('src');
  noteRecords(ctx, [id]);
  const record = {
    ...{ ...sourceDefaults, ...body, id, organizationId: organizationId(ctx) },
    ...newVerification(ctx.deps, id, provider, config),
    ...tokenColumns(ctx.deps, id, body.ingestToken, null),
    ...handshakeColumns(ctx.deps, id, handshake, null),
  };
  requireConsistent(record);
  return orDuplicateSlug('source', body.slug, () =>
    transactional(ctx, async (em) => {
      await requireRecordRoom(em, ctx, 'sources');
      return em.create(Source, record);
    }),
  );
}

/**
 * Makes a source what a create would have made of the same body, but what protects it stays unless the body changes it.
 * @throws ApiError 400, 404, 412
 */
export function replaceSource(
  ctx: Context,
  id: string,
  { verificationConfig: config, provider, handshake, ...body }: Input,
): Promise<Source> {
  return changeSource(ctx, id, (stored) => {
    const { provider: kept, ingestToken, concealed } = stored;
    const members = { ...sourceDefaults, provider: kept, ingestToken, concealed, ...field.sent(body) };
    const verified = replacedVerification(ctx.deps, stored, provider, config);
    return changedMembers(stored, {
      ...members,
      ...tokenColumns(ctx.deps, id, members.ingestToken, stored),
      ...verified,
      ...handshakeColumns(ctx.deps, id, handshake, stored),
    });
  });
}

/**
 * Changes a source that the caller wants to change as it is now.
 * @param columns what it becomes; may be called again
 * @throws ApiError 400, 404, 412 when `If-Match` names other versions only
 */
export function changeSource(
  ctx: Context,
  id: string,
  columns: (stored: Source) => EntityData<Source>,
): Promise<Source> {
  const change = (stored: Source, em: EntityManager) => {
    em.assign(stored, columns(stored));
    requireConsistent(stored);
  };
  return changeRecord(ctx, findSource, change, id);
}
