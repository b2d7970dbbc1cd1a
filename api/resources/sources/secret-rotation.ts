// Rotation of the secrets that Hookyard shares with others: for a while the new one and the one before are both valid,
// so that the other side may change over at any moment of it.
import { z } from 'zod';
import { withExample } from '../values.ts';
import { isRedacted } from '../../../core/text/redaction.ts';
import { isSameSecret, secretSchema } from '../../../core/verification/scheme.ts';
import { signingSecretProblem } from '../../../core/verification/standard-webhooks.ts';
import { invalid } from '../../request/errors.ts';
import { httpDestination } from '../destinations/destination-members.ts';
import { sourceAnswer } from './source-members.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { changeRecord, findHttpDestination, findSource } from '../records.ts';
import { refuse } from '../../request/validation.ts';
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
  'How long the previous secret stays valid, in seconds. If 0, it expires immediately.',
);
export const signingSecretBody = z.object({
  secret: z
    .string()
    .superRefine((secret, context) => {
      const problem = signingSecretProblem(secret);
      if (problem !== null) refuse(context, undefined, problem);
    })
    .describe('The new secret: `whsec_` followed by 24 to 64 bytes in base64.'),
  overlapSeconds,
});

export const secretRotationOperations: Operation[] = [
  operation('rotateSigningSecret', 'post', '/api/destinations/{id}/rotate-secret', {
    tag: 'Destinations',
    idOf: ['dst'],
    versioned: true,
    summary: "Rotate a destination's signing secret",
    description: 'Until the overlap period ends, deliveries are signed with both the new and the previous secret.',
    body: {
      schema: signingSecretBody,
      examples: { 'within an hour': { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', overlapSeconds: 3600 } },
    },
    answer: { description: 'The updated destination.', schema: httpDestination },
    async run(ctx, { body }) {
      const destination = await changeRecord(ctx, findHttpDestination, (stored, em) => {
        const current = openSigningSecret(ctx.deps, stored);
        if (current === null)
          throw invalid(
            'secret',
            'cannot be rotated because the destination has no signing secret; set signingSecret with an update',
          );
        const { until, isRepeat } = rotation(body, current, stored.previousSigningSecretUntil ?? null);
        em.assign(stored, {
          ...(!isRepeat && {
            signingSecret: ctx.deps.secretBox.encrypt(body.secret, stored.id),
            previousSigningSecret: ctx.deps.secretBox.encrypt(current, stored.id),
          }),
          previousSigningSecretUntil: until,
        });
      });
      return showDestination(ctx, destination);
    },
  }),
  operation('rotateVerificationSecret', 'post', '/api/organizations/{orgId}/sources/{id}/rotate-secret', {
    tag: 'Sources',
    idOf: ['src'],
    versioned: true,
    summary: "Rotate a source's verification secret",
    description:
      'Until the overlap period ends, webhooks that can be verified with the new or the previous secret are accepted.',
    body: {
      schema: z.object({ secret: secretSchema.describe('The new secret.'), overlapSeconds }),
      examples: {
        'within a day': { secret: 'the new secret from the provider', overlapSeconds: DAY_SECONDS },
      },
    },
    answer: { description: 'The updated source.', schema: sourceAnswer },
    async run(ctx, { body }) {
      if (isRedacted(body.secret)) throw invalid('secret', 'must be the full new secret');
      const source = await changeRecord(ctx, findSource, (stored, em) => {
        const current = openSecret(ctx.deps, stored);
        if (current === null)
          throw invalid(
            'secret',
            'cannot be rotated because the source has no secret; set verificationConfig with an update',
          );
        const { until, isRepeat } = rotation(body, current, stored.previousSecretUntil ?? null);
        em.assign(stored, {
          ...(!isRepeat && {
            verificationSecret: withNewSecret(ctx.deps, stored, body.secret),
            previousVerificationSecret: withSecret(ctx.deps, stored, current),
          }),
          previousSecretUntil: until,
        });
      });
      return showSource(ctx, source);
    },
  }),
];

/**
 * When the secret before ends. A repeat (the secret is the current one) never lengthens that: what has ended stays so,
 * and the one before stays what it is.
 * @param ends when the secret before ends as stored
 */
export function rotation(body: { secret: string; overlapSeconds: number }, current: string, ends: Date | null) {
  const wanted = new Date(Date.now() + body.overlapSeconds * 1000);
  const isRepeat = isSameSecret(body.secret, current);
  return { isRepeat, until: isRepeat && (ends === null || ends < wanted) ? ends : wanted };
}
