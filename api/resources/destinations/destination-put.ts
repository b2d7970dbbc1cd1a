// Creates the destination of a slug, or replaces it as a whole.
// Rules: DEST-54, HTTP-42 to HTTP-44.
import { z } from 'zod';
import { DEFAULT_RETRY_POLICY } from '../../../core/delivery/backoff.ts';
import { Destination } from '../../../db/entities.ts';
import { readJson } from '../../request/body.ts';
import { type ApiDeps, type Context, callerOf } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import {
  createDestinationSchema,
  type DestinationInput,
  destinationDefaults,
  typeSchema,
  UNCHANGEABLE,
} from './destination-members.ts';
import * as field from '../fields.ts';
import { createWarehouseSchema } from './warehouse-members.ts';
import type { Operation } from '../../request/operation.ts';
import { requireWanted } from '../../request/preconditions.ts';
import { findDestination } from '../records.ts';
import { maySeeSecrets } from '../../auth/scopes.ts';
import { check } from '../../request/validation.ts';
import { changedMembers, putBySlug, slugOf } from '../by-slug.ts';
import {
  type ChangeRights,
  changedDestination,
  type DestinationChange,
  type NewDestination,
  openAuthConfig,
  openSigningSecret,
  storeDestination,
} from './destination-record.ts';
import { showDestination } from './destination-view.ts';
import { isWarehouse, refuseConfig, replacedWarehouse } from './destination-warehouse.ts';
import { transactional } from '../transactions.ts';
import { requireAccess } from './warehouse-access.ts';
import { refuseOwnUrl } from '../routes/own-addresses.ts';

type Made = (ctx: Context, deps: ApiDeps, body: unknown) => { record: NewDestination };

/** @param newRecord checks a body as a create does */
export function putDestinationOperation(
  common: Pick<Operation, 'tag' | 'idOf' | 'errors'> & { base: string; body: z.ZodType; answer: z.ZodType },
  newRecord: Made,
): Operation {
  const { base, body, answer, ...rest } = common;
  return {
    ...rest,
    method: 'put',
    path: `${base}/by-slug/{slug}`,
    operationId: 'putDestination',
    versioned: true,
    run: (ctx, deps) => put(ctx, deps, newRecord),
    summary: 'Create or replace the destination of a slug',
    description:
      'The destination becomes what a create would make of the body: what is left out goes back to its default. Credentials (`authType`, `authConfig`, `signingSecret`, the secret of a `config`) that are left out, or sent back masked, stay: the `authType` `none` and a `signingSecret` of null remove them. The `type` cannot be changed.',
    body: { schema: body, examples: { plain: { name: 'CRM', url: 'https://example.com/hooks' } } },
    answer: {
      status: 200,
      description: 'The destination as it is now.',
      ofNew: 'The destination, which is new.',
      schema: answer,
    },
  };
}

const keySchema = typeSchema.extend({ slug: z.string().optional() });

async function put(ctx: Context, deps: ApiDeps, newRecord: Made): Promise<void> {
  const body = await readJson(ctx);
  const slug = slugOf(ctx, check(keySchema, body, 'The body').slug);
  const destination = await putBySlug(ctx, deps, slug, {
    ...{ kind: 'destination', entity: Destination },
    create: async () => storeDestination(ctx, deps, slug, newRecord(ctx, deps, body).record),
    replace: (id) => replace(ctx, deps, id, body),
  });
  ctx.body = await showDestination(ctx, deps, destination);
}

function replace(ctx: Context, deps: ApiDeps, id: string, body: unknown): Promise<Destination> {
  const { type } = check(typeSchema, body, 'The body');
  return transactional(ctx, deps, async (em) => {
    const stored = await findDestination(em, id, undefined, 'lock');
    requireWanted(ctx, 'destination', stored);
    if (type !== stored.type) throw invalid('type', UNCHANGEABLE);
    em.assign(stored, changedMembers(stored, replaced(ctx, deps, stored, body)));
    await refuseOwnUrl(em, deps, stored);
    return stored;
  });
}

function replaced(ctx: Context, deps: ApiDeps, stored: Destination, body: unknown): DestinationChange {
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  if (isWarehouse(stored)) {
    const changed = replacedWarehouse(deps, stored, check(createWarehouseSchema, body, 'The body'), rights);
    const { id, type, config } = stored;
    requireAccess(deps, callerOf(ctx).organization, { id, type, config: changed.config ?? config ?? null });
    return changed;
  }
  const input = check(createDestinationSchema, body, 'The body');
  refuseConfig(body);
  return replacedHttp(deps, stored, input, rights);
}

function replacedHttp(
  deps: ApiDeps,
  stored: Destination,
  { slug: _slug, retryPolicy, ...rest }: DestinationInput,
  rights: ChangeRights,
): DestinationChange {
  // A script that leaves credentials out does not mean to remove them: they stay.
  const { authType: _none, ...defaults } = destinationDefaults;
  const { authConfig: auth = stored.authConfig, ...changed } = changedDestination(
    deps,
    stored,
    { ...defaults, ...field.sent(rest), retryPolicy: { ...DEFAULT_RETRY_POLICY, ...retryPolicy } },
    rights,
  );
  const after = { ...stored, ...changed, authConfig: auth };
  // Encrypted again, what is the same would look changed, and a rotation would end.
  const isSameAuth = JSON.stringify(openAuthConfig(deps, after)) === JSON.stringify(openAuthConfig(deps, stored));
  const { signingSecret: sealed, previousSigningSecret, previousSigningSecretUntil, ...others } = changed;
  const isSameSecret = openSigningSecret(deps, after) === openSigningSecret(deps, stored);
  return {
    ...others,
    ...(!isSameAuth && { authConfig: auth }),
    ...(!isSameSecret && { signingSecret: sealed, previousSigningSecret, previousSigningSecretUntil }),
  };
}
