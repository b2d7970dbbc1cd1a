import { z } from 'zod';
import { secretProblem } from '../../../core/verification/index.ts';
import { providerNamed, providers, type Provider } from '../../../providers/index.ts';
import { signedWebhook } from '../../../providers/sample.ts';
import { invalid } from '../../request/errors.ts';
import { shownAnswer } from './source-members.ts';
import { component, headers, listOf, text, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { listAnswer, pageParams } from '../../request/query.ts';

const listSchema = z.object(pageParams);

const place = z
  .object({
    header: withExample(z.string().optional(), 'X-GitHub-Event'),
    payload: withExample(z.string().optional(), 'event.type'),
  })
  .meta({
    id: 'ProviderPlace',
    description: 'The place of a value: a header, or a path in the payload.',
    examples: [{ header: 'X-GitHub-Event' }],
  });

const provider = component('Provider', {
  name: text('github', 'The name to use as `provider` of a source.'),
  title: text('GitHub'),
  docs: text('https://docs.github.com/en/webhooks', "The provider's page about its webhooks."),
  secret: text(
    'the secret of the webhook',
    'What to set as `verificationConfig.secret`. Null if there is nothing to set.',
  ).nullable(),
  verifyToken: text(
    'a verify token that you choose',
    'What to set as `verificationConfig.verifyToken`. Null if there is nothing to set.',
  ).nullable(),
  eventType: place.nullable(),
  eventId: place.nullable(),
  dedup: withExample(
    z
      .object({
        header: z.string().optional(),
        jsonPath: z.string().optional(),
        signature: z.literal(true).optional(),
      })
      .nullable(),
    { header: 'X-GitHub-Delivery' },
    'The value that identifies a duplicate. Set it as the `idempotencyKey` of the source, with a window.',
  ),
  handshakes: withExample(z.array(z.string()), [], 'The handshakes that Hookyard supports.'),
  answer: shownAnswer.nullable(),
  instructions: text('Settings, Webhooks, Add webhook.', 'How to connect the provider.'),
  samples: withExample(z.array(z.string()), ['push'], 'The events that have samples.'),
});

const MAX_SECRET = 4096;
const MAX_ADDRESS = 2048;
/** Signing takes time on the event loop, some of it for every field of a form. */
const MAX_PAYLOAD = 64 * 1024;

const signSchema = z.object({
  provider: withExample(z.string().max(100), 'github', 'The `name` of the provider.'),
  secret: withExample(
    z.string().min(1).max(MAX_SECRET),
    'shared with github',
    'The secret, as in `verificationConfig.secret` of the source. It is not stored.',
  ),
  url: z
    .string()
    .max(MAX_ADDRESS)
    .refine((url) => URL.canParse(url), 'must be a URL')
    .describe('The `webhookUrl` of the source, which some providers sign.'),
  event: z.string().max(200).optional().describe('One of the `samples`. Defaults to the first sample.'),
  payload: z.string().max(MAX_PAYLOAD).optional().describe('Replaces the payload of the sample.'),
});

const signedSample = component('SignedSample', {
  event: text('push'),
  headers: withExample(headers, { 'Content-Type': 'application/json', 'X-GitHub-Event': 'push' }),
  payload: text('{"ref":"refs/heads/main"}', 'The body to send, byte for byte.'),
  sample: text('{"ref":"refs/heads/main"}', 'The payload before the provider adds its signature.'),
  query: text('', 'A query string to append to the URL. Usually empty.'),
});

export const signSampleOperation = operation('signSample', 'post', '/api/providers/sample', {
  tag: 'Sources',
  changesNothing: true,
  summary: 'Create a signed sample webhook of a provider',
  description: 'Use it to test a source before you connect the provider: send it to the `webhookUrl` with `POST`.',
  body: {
    schema: signSchema,
    examples: {
      github: { provider: 'github', secret: 'shared with github', url: 'https://hooks.example/ingest/acme/github' },
    },
  },
  answer: { description: 'The request to send.', schema: signedSample },
  run(_ctx, _deps, { body: { provider: name, payload, ...wanted } }) {
    const found = providerNamed(name);
    if (found === undefined) throw invalid('provider', 'must be a provider in GET /api/providers');
    const problem = secretProblem(found.verification, wanted.secret);
    if (problem !== null) throw invalid('secret', problem);
    const signed = signedWebhook(found, { ...wanted, ...(payload !== undefined && { body: Buffer.from(payload) }) });
    if (signed === 'no-sample')
      throw invalid('event', `must be one of ${found.samples.map(({ event }) => event).join(', ')}`);
    if (signed === 'private-key')
      throw invalid(
        'provider',
        `must be a provider whose signatures can be generated: ${found.title} signs with a private key; send a test webhook from ${found.title} instead`,
      );
    const { event, headers: made, body, unsigned, query } = signed;
    return {
      ...{ event, headers: made, payload: body.toString('utf8'), sample: unsigned.toString('utf8') },
      query: new URLSearchParams(query).toString(),
    };
  },
});

export const providerOperation = operation('listProviders', 'get', '/api/providers', {
  tag: 'Sources',
  summary: 'List the providers that a source can have',
  query: listSchema,
  answer: { description: 'One page, by name.', schema: listOf(provider) },
  run(_ctx, _deps, { query }) {
    const first = (query.page - 1) * query.pageSize;
    return listAnswer(providers.slice(first, first + query.pageSize).map(show), providers.length, query);
  },
});

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
