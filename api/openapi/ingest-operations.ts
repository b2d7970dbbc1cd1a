// The address to which providers send, in the API's description; its handler is ../ingest/ingest.ts.
import { z } from 'zod';
import { INGEST_METHODS } from '../ingest/ingest.ts';
import { idOf } from '../resources/values.ts';
import type { Described, Method } from '../request/operation.ts';

const accepted = z
  .union([
    z.object({
      success: z.literal(true),
      eventId: idOf('evt'),
      duplicate: z
        .literal(true)
        .optional()
        .describe(
          "Present only for a duplicate. `eventId` is then the ID of the first webhook's event, and nothing was stored.",
        ),
    }),
    z.object({ challenge: z.string().describe('The challenge from a Slack `url_verification` request.') }),
  ])
  .meta({ id: 'Accepted', examples: [{ success: true, eventId: 'evt_06f3k2v8q0e7x1c5b9m4n6p8qr' }] });

const IDS: Record<string, string> = { POST: 'receive', PUT: 'receiveByPut', PATCH: 'receiveByPatch' };

const ADDRESSES = [
  { path: '/ingest/{orgSlug}/{sourceSlug}', suffix: '', at: '' },
  { path: '/ingest/{orgSlug}/{sourceSlug}/{token}', suffix: 'AtToken', at: ' at a URL with a token' },
];

export const ingestOperations: Described[] = ADDRESSES.flatMap(({ path, suffix, at }) =>
  INGEST_METHODS.map((method) => ({
    tag: 'Ingest',
    family: 'public',
    method: method.toLowerCase() as Method,
    path,
    operationId: `${IDS[method] ?? ''}${suffix}`,
    summary: `Receive a webhook (${method})${at}`,
    description:
      "The body is stored unchanged, regardless of its type. No API key is needed. If the source has a `verificationConfig`, the signature is verified. The source's `answer` sets the response to accepted webhooks. Handshakes from the source's `provider`, including those sent with `GET`, `HEAD` or `OPTIONS`, get the response that the provider expects. If the source's `allowPaths` is true, any path may follow the URL. If the response is 429 or 503, nothing was stored; retry after `Retry-After` seconds.",
    takesAnything: true,
    answer: {
      description: 'The event and its deliveries were stored, unless the request is a duplicate or a handshake.',
      schema: accepted,
    },
    errors: {
      400: ['INCOMPLETE_BODY', 'INVALID_PATH'],
      401: ['INVALID_SIGNATURE'],
      403: ['SOURCE_DISABLED', 'ORGANIZATION_SUSPENDED'],
      404: ['RESOURCE_NOT_FOUND'],
      408: ['REQUEST_TIMEOUT'],
      413: ['PAYLOAD_TOO_LARGE'],
      429: ['LIMIT_EXCEEDED'],
      500: ['INTERNAL_ERROR'],
      503: ['UNAVAILABLE'],
      508: ['LOOP_DETECTED'],
    },
  })),
);
