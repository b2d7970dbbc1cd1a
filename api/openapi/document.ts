// The OpenAPI 3.1 description of the API: assembled from the files beside this one. docs/openapi.json is the result;
// `npm run openapi` updates it.
import { z } from 'zod';
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import packageJson from '../../package.json' with { type: 'json' };
import { signInOperation } from '../console/sign-in.ts';
import { INGEST_METHODS } from '../ingest/ingest.ts';
import { type Described, type Method, TAGS } from '../request/operation.ts';
import { managementOperations } from '../request/operations.ts';
import { healthOperations, statusOperation } from '../resources/organization/status.ts';
import { idOf } from '../resources/values.ts';
import { alertCallbacks, alertWebhooks } from './alert-webhooks.ts';
import { type ApiDocument, withComponents, withExamples } from './components.ts';
import { MANAGEMENT_SECURITY, toOperationObject } from './operation-object.ts';
import { descriptionOperation } from './serve-description.ts';

// The address to which providers send, in the API's description; its handler is ../ingest/ingest.ts.

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

const ingestOperations: Described[] = ADDRESSES.flatMap(({ path, suffix, at }) =>
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
      description: 'The event and its deliveries were stored, unless the request was a duplicate or a handshake.',
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

const operations: Described[] = [
  ...ingestOperations,
  ...managementOperations,
  ...healthOperations,
  descriptionOperation,
  signInOperation,
  statusOperation,
];

const INTRODUCTION = `Hookyard receives webhooks, stores them and delivers each to its destinations.

* Authenticate with an API key, as \`Authorization: Bearer whr_...\` or as \`X-API-Key\`. An API key belongs to one
  organization, and paths without an organization ID refer to that organization. Each operation names the scope that it requires (\`x-scopes\`);
  \`read\` includes all scopes that end in \`:read\`, except \`secrets:read\`; \`write\` includes the others.
* Bodies are JSON. Unknown fields and query parameters are ignored and listed in the \`X-Ignored\` response header;
  in replays, bulk requests, issue updates and new API keys, they are refused. New fields may be added to responses.
* Lists are paginated and, unless stated otherwise, newest first. Times are in ISO 8601 format (UTC), latencies in whole milliseconds.
* An error has \`error\`, \`message\` and usually \`code\`. For a record in another organization, the response is the same
  as for a record that does not exist.`;

/** Builds the document. It takes tens of milliseconds of CPU: callers that need it often should cache it. */
export function apiDocument(): ApiDocument {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Hookyard',
        version: packageJson.version,
        description: INTRODUCTION,
        contact: { name: 'Hookyard' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The server that serves this description.' }],
      security: MANAGEMENT_SECURITY,
      tags: Object.entries(TAGS).map(([name, { about }]) => ({ name, description: about })),
      paths: paths(),
      webhooks: alertWebhooks,
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `whr_...`' },
          apiKeyHeader: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: 'An API key: `whr_...`. A key in `Authorization` takes precedence.',
          },
          operatorKey: {
            type: 'http',
            scheme: 'bearer',
            description: "The installation's operator key: `HOOKYARD_OPERATOR_KEY`.",
          },
        },
      },
    },
    {
      // Their descriptions say what they are.
      allowEmptySchema: { custom: true },
      override: ({ jsonSchema, io }) => {
        // Answers may get more members (see the introduction).
        if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    },
  );
  return withExamples(withComponents(document));
}

function paths(): ZodOpenApiPathsObject {
  const byPath: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    const described = {
      ...toOperationObject(operation),
      ...(operation.operationId === 'createAlertChannel' && { callbacks: alertCallbacks }),
    };
    byPath[operation.path] = { ...byPath[operation.path], [operation.method]: described };
  }
  return byPath;
}
