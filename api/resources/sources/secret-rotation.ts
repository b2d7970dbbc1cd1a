// Rotation of the secrets that Hookyard shares with others: for a while the new one and the one before are both valid, so that the
// other side may change over at any moment of it.
import { z } from 'zod';
import { withExample } from '../values.ts';
import { isRedacted } from '../../../core/text/redaction.ts';
import { isSameSecret, secretSchema } from '../../../core/verification/scheme.ts';
import { signingSecretProblem } from '../../../core/verification/standard-webhooks.ts';
import { type ApiDeps, type Context, param } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { httpDestination } from '../destinations/destination-members.ts';
import { sourceAnswer } from './source-members.ts';
import type { Operation } from '../../request/operation.ts';
import { findHttpDestination, findSource, transactional } from '../records.ts';
import { parseBody } from '../../request/validation.ts';
import { openSigningSecret, showDestination } from '../destinations/destination-record.ts';
import { showSource } from './sources.ts';
import { openSecret, withNewSecret, withSecret } from './source-verification.ts';

const DAY_SECONDS = 86_400;

const overlapSeconds = withExample(
  z
    .int()
    .min(0)
    .max(7 * DAY_SECONDS)
    .default(DAY_SECONDS),
  DAY_SECONDS,
  'How long the secret before this one stays valid; 0: it ends now.',
);
const sourceBody = z.object({ secret: secretSchema.describe('The new one.'), overlapSeconds });
export const signingSecretBody = z.object({
  secret: z.string().describe('The new one: `whsec_` and 24 to 64 bytes in base64.'),
  overlapSeconds,
});

export const secretRotationOperations: Operation[] = [
  {
    tag: 'Destinations',
    idOf: ['dst'],
    method: 'post',
    path: '/api/destinations/{id}/rotate-secret',
    operationId: 'rotateSigningSecret',
    versioned: true,
    run: rotateOfDestination,
    summary: "Rotate a destination's signing secret",
    description: 'Deliveries carry two signatures, of the new secret and of the one before, until the overlap ends.',
    body: {
      schema: signingSecretBody,
      examples: { 'within an hour': { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', overlapSeconds: 3600 } },
    },
    answer: { status: 200, description: 'The destination as it is now.', schema: httpDestination },
  },
  {
    tag: 'Sources',
    idOf: ['src'],
    method: 'post',
    path: '/api/organizations/{orgId}/sources/{id}/rotate-secret',
    operationId: 'rotateVerificationSecret',
    versioned: true,
    run: rotateOfSource,
    summary: "Rotate a source's verification secret",
    description: 'Webhooks signed with either secret are taken until the overlap ends.',
    body: {
      schema: sourceBody,
      examples: {
        'within a day': { secret: 'the next secret that the provider has, too', overlapSeconds: DAY_SECONDS },
      },
    },
    answer: { status: 200, description: 'The source as it is now.', schema: sourceAnswer },
  },
];

async function rotateOfDestination(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, signingSecretBody);
  const problem = signingSecretProblem(body.secret);
  if (problem !== null) throw invalid('secret', problem);
  const id = param(ctx, 'id');
  const destination = await transactional(ctx, deps, async (em) => {
    const stored = await findHttpDestination(em, id, 'lock');
    const current = openSigningSecret(deps, stored);
    if (current === null) {
      throw invalid('secret', 'cannot be rotated, because the destination has none; set signingSecret with an update');
    }
    const { until, isRepeat } = rotation(body, current, stored.previousSigningSecretUntil ?? null);
    em.assign(stored, {
      ...(!isRepeat && {
        signingSecret: deps.secretBox.encrypt(body.secret, id),
        previousSigningSecret: deps.secretBox.encrypt(current, id),
      }),
      previousSigningSecretUntil: until,
    });
    return stored;
  });
  ctx.body = await showDestination(ctx, deps, destination);
}

async function rotateOfSource(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseBody(ctx, sourceBody);
  if (isRedacted(body.secret)) throw invalid('secret', 'must be the whole new secret');
  const id = param(ctx, 'id');
  const source = await transactional(ctx, deps, async (em) => {
    const stored = await findSource(em, id, 'lock');
    const current = openSecret(deps, stored);
    if (current === null) {
      throw invalid('secret', 'cannot be rotated, because the source has none; set verificationConfig with an update');
    }
    const { until, isRepeat } = rotation(body, current, stored.previousSecretUntil ?? null);
    em.assign(stored, {
      ...(!isRepeat && {
        verificationSecret: withNewSecret(deps, stored, body.secret),
        previousVerificationSecret: withSecret(deps, stored, current),
      }),
      previousSecretUntil: until,
    });
    return stored;
  });
  ctx.body = await showSource(ctx, deps, source);
}

/**
 * When the secret before ends. A repeat (the secret is the current one) never lengthens that: what has ended stays so, and the one
 * before stays what it is.
 * @param ends when the secret before ends as stored
 */
export function rotation(body: { secret: string; overlapSeconds: number }, current: string, ends: Date | null) {
  const wanted = new Date(Date.now() + body.overlapSeconds * 1000);
  const isRepeat = isSameSecret(body.secret, current);
  return { isRepeat, until: isRepeat && (ends === null || ends < wanted) ? ends : wanted };
}
