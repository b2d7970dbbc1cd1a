// The OpenAPI 3.1 description of the API: assembled from the files beside this one. docs/openapi.json is the result;
// `npm run openapi` updates it.
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import packageJson from '../../package.json' with { type: 'json' };
import { signInOperation } from '../console/sign-in.ts';
import { type Described, TAGS } from '../request/operation.ts';
import { managementOperations } from '../request/operations.ts';
import { healthOperations, statusOperation } from '../resources/organization/status.ts';
import { alertCallbacks, alertWebhooks } from './alert-webhooks.ts';
import { type ApiDocument, withComponents, withExamples } from './components.ts';
import { ingestOperations } from './ingest-operations.ts';
import { MANAGEMENT_SECURITY, toOperationObject } from './operation-object.ts';
import { descriptionOperation } from './serve-description.ts';

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
