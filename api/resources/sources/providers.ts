import { z } from 'zod';
import { providerOf } from '../../../core/verification/config.ts';
import { isSigned, secretProblem } from '../../../core/verification/index.ts';
import { dedupOf, providerNamed, providers, type Provider, type Sample, senderOf } from '../../../providers/index.ts';
import { signedWebhook } from '../../../providers/sample.ts';
import { conflict, invalid } from '../../request/errors.ts';
import { shownAnswer } from './source-members.ts';
import { component, headers, listOf, text, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { listAnswer, pageParams } from '../../request/query.ts';
import { findSource } from '../records.ts';
import { webhookUrl } from './source-address.ts';
import { openSecret } from './source-verification.ts';

const listSchema = z.object(pageParams);

const place = z
  .object({
    header: withExample(z.string().optional(), 'X-GitHub-Event'),
    payload: withExample(z.string().optional(), 'event.type'),
  })
  .meta({
    id: 'ProviderPlace',
    description: 'Where a value is found: a header, or a path in the payload.',
    examples: [{ header: 'X-GitHub-Event' }],
  });

const provider = component('Provider', {
  name: text('github', "The value for a source's `provider`."),
  title: text('GitHub'),
  docs: text('https://docs.github.com/en/webhooks', "The provider's webhook documentation."),
  secret: text('the webhook secret', 'What to use as `verificationConfig.secret`. Null if not needed.').nullable(),
  verifyToken: text(
    'a token that you choose',
    'What to use as `verificationConfig.verifyToken`. Null if not needed.',
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
    "Where to find the value that identifies duplicates. Copy this object to the source's `idempotencyKey` and add `windowSeconds`.",
  ),
  handshakes: withExample(z.array(z.string()), [], 'The handshakes that Hookyard supports.'),
  answer: shownAnswer.nullable(),
  instructions: text('Go to Settings › Webhooks › Add webhook.', 'How to connect the provider.'),
  samples: withExample(z.array(z.string()), ['push'], 'The events that have samples.'),
});

const MAX_SECRET = 4096;
const MAX_ADDRESS = 2048;
/** Signing takes time on the event loop, some of it for every field of a form. */
const MAX_PAYLOAD = 64 * 1024;

const sampleMembers = {
  event: z.string().max(200).optional().describe("One of the provider's `samples`. Defaults to the first one."),
  payload: z.string().max(MAX_PAYLOAD).optional().describe("Replaces the sample's payload."),
};

const signSchema = z.object({
  provider: withExample(z.string().max(100), 'github', "The provider's `name`."),
  secret: withExample(
    z.string().min(1).max(MAX_SECRET),
    'shared with github',
    "The secret, as in the source's `verificationConfig.secret`. It is not stored.",
  ),
  url: z
    .string()
    .max(MAX_ADDRESS)
    .refine((url) => URL.canParse(url), 'must be a URL')
    .describe("The source's `webhookUrl`, which some providers sign."),
  ...sampleMembers,
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
  summary: 'Create a signed sample webhook for a provider',
  description:
    "Use the sample to test a source before you connect the provider: send it to the source's `webhookUrl` with `POST`.",
  body: {
    schema: signSchema,
    examples: {
      github: { provider: 'github', secret: 'shared with github', url: 'https://hooks.example/ingest/acme/github' },
    },
  },
  answer: { description: 'The request to send.', schema: signedSample },
  run(_ctx, { body: { provider: name, ...wanted } }) {
    const found = providerNamed(name);
    if (found === undefined) throw invalid('provider', 'must be a provider from GET /api/providers');
    const problem = secretProblem(found.verification, wanted.secret);
    if (problem !== null) throw invalid('secret', problem);
    return signedAs(found, wanted, () =>
      invalid(
        'provider',
        `must be a provider whose signatures can be generated: ${found.title} signs with a private key; send a test webhook from ${found.title} instead`,
      ),
    );
  },
});

/** What a source without a provider receives. */
const ORDER: Sample = {
  event: 'order.paid',
  body: { id: '{uuid}', type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } },
};

export const signSourceSampleOperation = operation(
  'signSourceSample',
  'post',
  '/api/organizations/{orgId}/sources/{id}/sample',
  {
    tag: 'Sources',
    of: findSource,
    changesNothing: true,
    summary: 'Create a signed sample webhook for a source',
    description:
      "The sample is signed with the stored secret; send it to the source's `webhookUrl` with `POST`. Sources whose webhooks are not signed with a stored secret have no sample.",
    body: { schema: z.object(sampleMembers), examples: { push: { event: 'push' } }, optional: true },
    answer: { description: 'The request to send.', schema: signedSample },
    errors: { 409: ['INVALID_STATE'] },
    run(ctx, { body, record: source }) {
      const sender = senderOf(source);
      const secret = openSecret(ctx.deps, source);
      const unsigned = () =>
        conflict(
          "The source's webhooks are not signed with a stored secret; send a test webhook from the sender instead",
        );
      if (sender === null || secret === null || !isSigned(sender.verification)) throw unsigned();
      const known = providerNamed(providerOf(source) ?? source.verification.type);
      const { verification } = sender;
      const wanted = { ...body, secret, url: webhookUrl(ctx, source) };
      return signedAs({ verification, samples: known?.samples ?? [ORDER] }, wanted, unsigned);
    },
  },
);

interface Wanted {
  event?: string | undefined;
  payload?: string | undefined;
  secret: string;
  url: string;
}

/** @param privately the error where only the sender can sign */
function signedAs(
  sender: Pick<Provider, 'verification' | 'samples'>,
  { payload, ...wanted }: Wanted,
  privately: () => Error,
) {
  const signed = signedWebhook(sender, { ...wanted, ...(payload !== undefined && { body: Buffer.from(payload) }) });
  if (signed === 'no-sample')
    throw invalid('event', `must be one of ${sender.samples.map(({ event }) => event).join(', ')}`);
  if (signed === 'private-key') throw privately();
  const { event, headers: made, body, unsigned, query } = signed;
  return {
    ...{ event, headers: made, payload: body.toString('utf8'), sample: unsigned.toString('utf8') },
    query: new URLSearchParams(query).toString(),
  };
}

export const providerOperation = operation('listProviders', 'get', '/api/providers', {
  tag: 'Sources',
  summary: 'List providers',
  query: listSchema,
  answer: { description: 'One page, ordered by name.', schema: listOf(provider) },
  run(_ctx, { query }) {
    const first = (query.page - 1) * query.pageSize;
    return listAnswer(providers.slice(first, first + query.pageSize).map(show), providers.length, query);
  },
});

function show(provider: Provider) {
  const { name, title, docs, secret, instructions, samples, handshakes = [] } = provider;
  const { verifyToken, eventType, eventId, answer } = provider;
  return {
    ...{ name, title, docs, secret: secret.is, verifyToken: verifyToken ?? null },
    ...{ eventType: eventType ?? null, eventId: eventId ?? null, dedup: dedupOf(provider) },
    handshakes: handshakes.map(({ kind }) => kind),
    answer: answer ?? null,
    instructions,
    samples: samples.map(({ event }) => event),
  };
}
