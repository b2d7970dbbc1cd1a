// Makes sources, and replaces them as a whole.
// Rules: SRC-18, SRC-21, SRC-43.
import type { EntityData, RequiredEntityData } from '@mikro-orm/core';
import type { z } from 'zod';
import { newId } from '../../../core/text/ids.ts';
import { Source } from '../../../db/entities.ts';
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { ApiError } from '../../request/errors.ts';
import { requireRecordRoom } from '../../auth/limits.ts';
import { type createSourceSchema, sourceDefaults } from './source-members.ts';
import * as field from '../fields.ts';
import { requireWanted } from '../../request/preconditions.ts';
import { findSource, violates } from '../records.ts';
import { changedMembers } from '../by-slug.ts';
import { handshakeColumns, requireHmacSecret } from './source-handshake.ts';
import { requireGuarded, requireSignature, requireUntold } from './source-rules.ts';
import { newVerification, replacedVerification } from './source-verification.ts';
import { tokenColumns } from './source-tokens.ts';
import { transactional } from '../transactions.ts';

type Input = z.output<typeof createSourceSchema>;

/** @throws ApiError 400, 409 DUPLICATE_SLUG, 429 */
export async function makeSource(
  ctx: Context,
  deps: ApiDeps,
  { verificationConfig: config, provider = null, handshake = null, ...body }: Input,
): Promise<Source> {
  const id = newId('src');
  noteRecords(ctx, [id]);
  const verified = newVerification(deps, id, provider, config);
  requireSignature(body.idempotencyKey, verified);
  requireGuarded({ ...verified, ingestToken: body.ingestToken });
  requireUntold({ ...verified, ...body });
  const sealed = {
    ...{ ...verified, ...tokenColumns(deps, id, body.ingestToken, null) },
    ...handshakeColumns(deps, id, handshake, null),
  };
  requireHmacSecret(sealed);
  return storeSource(ctx, deps, { ...sourceDefaults, ...body, ...sealed, id, organizationId: organizationId(ctx) });
}

async function storeSource(ctx: Context, deps: ApiDeps, record: RequiredEntityData<Source>): Promise<Source> {
  try {
    return await transactional(ctx, deps, async (em) => {
      await requireRecordRoom(em, ctx, 'sources');
      return em.create(Source, record);
    });
  } catch (error) {
    if (!violates(error, 'sources_slug_unique')) throw error;
    throw new ApiError(409, 'DUPLICATE_SLUG', `A source with the slug ${record.slug} exists already; choose another`);
  }
}

/**
 * Makes a source what a create would have made of the same body, but what protects it stays unless the body changes it.
 * @throws ApiError 400, 404, 412
 */
export function replaceSource(
  ctx: Context,
  deps: ApiDeps,
  id: string,
  { verificationConfig: config, provider, handshake, ...body }: Input,
): Promise<Source> {
  return changeSource(ctx, deps, id, (stored) => {
    const { provider: kept, ingestToken, concealed } = stored;
    const members = { ...sourceDefaults, provider: kept, ingestToken, concealed, ...field.sent(body) };
    const verified = replacedVerification(deps, stored, provider, config);
    return changedMembers(stored, {
      ...{ ...members, ...tokenColumns(deps, id, members.ingestToken, stored) },
      ...{ ...verified, ...handshakeColumns(deps, id, handshake, stored) },
    });
  });
}

/**
 * Changes a source that the caller wants to change as it is now.
 * @param columns what it becomes; may be called again @throws ApiError 400, 404, 412
 */
export function changeSource(
  ctx: Context,
  deps: ApiDeps,
  id: string,
  columns: (stored: Source) => EntityData<Source>,
): Promise<Source> {
  return transactional(ctx, deps, async (em) => {
    const stored = await findSource(em, id, 'lock');
    requireWanted(ctx, 'source', stored);
    em.assign(stored, columns(stored));
    requireSignature(stored.idempotencyKey, stored);
    requireGuarded(stored);
    requireUntold(stored);
    requireHmacSecret(stored);
    return stored;
  });
}
