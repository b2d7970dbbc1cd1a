// The providers whose webhooks a source can be made for.
// Rules: PRV-15.
import { z } from 'zod';
import { providers, type Provider } from '../../providers/index.ts';
import type { Context } from '../context.ts';
import { shownAnswer } from '../members/sources.ts';
import { listOf, text } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { listAnswer, pageParams } from '../pagination.ts';
import { parseQuery } from '../validation.ts';

const listSchema = z.object(pageParams);

const place = z
  .object({
    header: z
      .string()
      .optional()
      .meta({ examples: ['X-GitHub-Event'] }),
    payload: z
      .string()
      .optional()
      .meta({ examples: ['event.type'] }),
  })
  .meta({
    id: 'ProviderPlace',
    description: 'A header, or a path of the payload.',
    examples: [{ header: 'X-GitHub-Event' }],
  });

const provider = z
  .object({
    name: text('github', 'The `provider` of a source.'),
    title: text('GitHub'),
    docs: text('https://docs.github.com/en/webhooks', "The provider's page about its webhooks."),
    secret: text('the secret of the webhook', 'What `verificationConfig.secret` is.').nullable(),
    verifyToken: text('a verify token of your own', 'What `verificationConfig.verifyToken` is.').nullable(),
    eventType: place.nullable(),
    eventId: place.nullable(),
    dedup: z
      .object({ header: z.string().optional(), jsonPath: z.string().optional(), signature: z.literal(true).optional() })
      .nullable()
      .meta({
        description: 'What tells a repeat; to be set as the `idempotencyKey` of the source, with a window.',
        examples: [{ header: 'X-GitHub-Delivery' }],
      }),
    handshakes: z.array(z.string()).meta({ description: 'The handshakes that are answered.', examples: [[]] }),
    answer: shownAnswer.nullable(),
    instructions: text('Settings, Webhooks, Add webhook.', 'How to connect it.'),
  })
  .meta({ id: 'Provider' });

export const providerOperation: Operation = {
  tag: 'Sources',
  method: 'get',
  path: '/api/providers',
  operationId: 'listProviders',
  run: list,
  summary: 'List the providers that a source can be made for',
  query: listSchema,
  answer: { status: 200, description: 'One page, by name.', schema: listOf(provider) },
};

function list(ctx: Context): void {
  const query = parseQuery(ctx, listSchema);
  const first = (query.page - 1) * query.pageSize;
  ctx.body = listAnswer(providers.slice(first, first + query.pageSize).map(show), providers.length, query);
}

function show({ name, title, docs, secret, verifyToken, handshakes, answer, ...places }: Provider) {
  const { eventType, eventId, dedup, instructions } = places;
  return {
    ...{ name, title, docs, secret: secret.is, verifyToken: verifyToken ?? null, eventType, eventId, dedup },
    handshakes: handshakes.map(({ kind }) => kind),
    answer: answer ?? null,
    instructions,
  };
}
