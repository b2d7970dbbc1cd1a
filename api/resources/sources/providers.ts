// The providers whose webhooks a source can be made for.
import { z } from 'zod';
import { secretProblem } from '../../../core/verification/index.ts';
import { providerNamed, providers, type Provider } from '../../../providers/index.ts';
import { signedWebhook } from '../../../providers/sample.ts';
import type { Context } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { shownAnswer } from './source-members.ts';
import { headers, listOf, text } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { listAnswer, pageParams } from '../../request/query.ts';
import { parseBody, parseQuery } from '../../request/validation.ts';

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
    samples: z.array(z.string()).meta({ description: 'The events that there are samples of.', examples: [['push']] }),
  })
  .meta({ id: 'Provider' });

const MAX_SECRET = 4096;
const MAX_ADDRESS = 2048;
/** Signing takes time on the event loop, some of it for every field of a form. */
const MAX_PAYLOAD = 64 * 1024;

const signSchema = z.object({
  provider: z
    .string()
    .max(100)
    .meta({ description: 'Its `name`.', examples: ['github'] }),
  secret: z
    .string()
    .min(1)
    .max(MAX_SECRET)
    .meta({
      description: 'As `verificationConfig.secret` of the source. It is not stored.',
      examples: ['shared with github'],
    }),
  url: z
    .string()
    .max(MAX_ADDRESS)
    .refine((url) => URL.canParse(url), 'must be an address')
    .meta({ description: 'The `webhookUrl` of the source, which some providers sign.' }),
  event: z.string().max(200).optional().meta({ description: 'One of the `samples`; the first by default.' }),
  payload: z.string().max(MAX_PAYLOAD).optional().meta({ description: 'Instead of the payload of the sample.' }),
});

const signedSample = z
  .object({
    event: text('push'),
    headers: headers.meta({ examples: [{ 'Content-Type': 'application/json', 'X-GitHub-Event': 'push' }] }),
    payload: text('{"ref":"refs/heads/main"}', 'To be sent byte by byte.'),
    sample: text('{"ref":"refs/heads/main"}', 'The same before the provider adds to it what proves it.'),
    query: text('', 'To be added to the address; usually empty.'),
  })
  .meta({ id: 'SignedSample' });

export const signSampleOperation: Operation = {
  tag: 'Sources',
  method: 'post',
  path: '/api/providers/sample',
  operationId: 'signSample',
  changesNothing: true,
  run: sign,
  summary: 'Make a sample webhook as a provider signs it',
  description: 'To try a source before its provider is connected: send it to the `webhookUrl` with `POST`.',
  body: {
    schema: signSchema,
    examples: {
      github: { provider: 'github', secret: 'shared with github', url: 'https://hooks.example/ingest/acme/github' },
    },
  },
  answer: { status: 200, description: 'What to send.', schema: signedSample },
};

async function sign(ctx: Context): Promise<void> {
  const { provider: name, payload, ...wanted } = await parseBody(ctx, signSchema);
  const found = providerNamed(name);
  if (found === undefined) throw invalid('provider', 'must be one that GET /api/providers lists');
  const problem = secretProblem(found.verification, wanted.secret);
  if (problem !== null) throw invalid('secret', problem);
  const signed = signedWebhook(found, { ...wanted, ...(payload !== undefined && { body: Buffer.from(payload) }) });
  if (signed === 'no-sample')
    throw invalid('event', `must be one of ${found.samples.map(({ event }) => event).join(', ')}`);
  if (signed === 'private-key')
    throw invalid(
      'provider',
      `must be one whose signatures can be made: ${found.title} signs with a private key; let it send a test of its own`,
    );
  const { event, headers: made, body, unsigned, query } = signed;
  ctx.body = {
    ...{ event, headers: made, payload: body.toString('utf8'), sample: unsigned.toString('utf8') },
    query: new URLSearchParams(query).toString(),
  };
}

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

function show({ name, title, docs, secret, instructions, samples, handshakes = [], ...others }: Provider) {
  const { verifyToken, eventType, eventId, dedup, answer } = others;
  return {
    ...{ name, title, docs, secret: secret.is, verifyToken: verifyToken ?? null },
    ...{ eventType: eventType ?? null, eventId: eventId ?? null, dedup: dedup ?? null },
    handshakes: handshakes.map(({ kind }) => kind),
    answer: answer ?? null,
    instructions,
    samples: samples.map(({ event }) => event),
  };
}
