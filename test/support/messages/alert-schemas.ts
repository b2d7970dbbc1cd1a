// The forms of messages as the vendors document them, as JSON Schemas that allow nothing else.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiDocument } from '../../../api/openapi/document.ts';

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const text = (maxLength: number, minLength = 1) => ({ type: 'string', minLength, maxLength });
const uri = { type: 'string', format: 'uri' };

// docs.slack.dev: "Sending messages using incoming webhooks"; "Block Kit": header, section, context, text object.
const plainText = (maxLength: number) =>
  object({ type: { const: 'plain_text' }, text: text(maxLength), emoji: { type: 'boolean' } }, ['type', 'text']);
const mrkdwn = object({ type: { const: 'mrkdwn' }, text: text(3000), verbatim: { type: 'boolean' } }, ['type', 'text']);
const slack = object(
  {
    text: text(40_000),
    mrkdwn: { type: 'boolean' },
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        oneOf: [
          object({ type: { const: 'header' }, text: plainText(150) }),
          object({
            type: { const: 'section' },
            fields: { type: 'array', minItems: 1, maxItems: 10, items: { oneOf: [plainText(2000), mrkdwn] } },
          }),
          object({ type: { const: 'context' }, elements: { type: 'array', minItems: 1, maxItems: 10, items: mrkdwn } }),
        ],
      },
    },
  },
  ['text', 'blocks'],
);

// learn.microsoft.com: "Create incoming webhooks with Workflows"; adaptivecards.io, version 1.4.
const textRun = object(
  {
    type: { const: 'TextRun' },
    text: text(5000),
    weight: { enum: ['Default', 'Lighter', 'Bolder'] },
    size: { enum: ['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'] },
  },
  ['type', 'text'],
);
const teams = object({
  type: { const: 'message' },
  attachments: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: object({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: object(
        {
          $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
          type: { const: 'AdaptiveCard' },
          version: { enum: ['1.2', '1.3', '1.4', '1.5'] },
          body: {
            type: 'array',
            minItems: 1,
            items: object({
              type: { const: 'RichTextBlock' },
              inlines: { type: 'array', minItems: 1, items: textRun },
            }),
          },
          actions: { type: 'array', items: object({ type: { const: 'Action.OpenUrl' }, title: text(100), url: uri }) },
        },
        ['$schema', 'type', 'version', 'body'],
      ),
    }),
  },
});

// developer.pagerduty.com: "Send an alert event" of the Events API v2.
const key = { type: 'string', pattern: '^[A-Za-z0-9]{32}$' };
const pagerduty = {
  oneOf: [
    object(
      {
        routing_key: key,
        event_action: { const: 'trigger' },
        dedup_key: text(255),
        client: text(255),
        client_url: uri,
        links: { type: 'array', items: object({ href: uri, text: text(255) }) },
        payload: object({
          summary: text(1024),
          source: text(255),
          severity: { enum: ['critical', 'error', 'warning', 'info'] },
          timestamp: { type: 'string', format: 'date-time' },
          class: text(255),
          group: text(255),
          custom_details: { type: 'object' },
        }),
      },
      ['routing_key', 'event_action', 'dedup_key', 'payload'],
    ),
    object({ routing_key: key, event_action: { enum: ['acknowledge', 'resolve'] }, dedup_key: text(255) }),
  ],
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

/** What Hookyard's own description says that channels of type webhook receive. */
const described = apiDocument() as unknown as {
  components: object;
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
};
const webhookSchemas = Object.values(described.webhooks).map(
  ({ post }) => post.requestBody.content['application/json']?.schema ?? false,
);
const webhook = { oneOf: webhookSchemas, components: described.components };

const validators = Object.fromEntries(
  Object.entries({ slack, teams, pagerduty, webhook }).map(([name, schema]) => [name, ajv.compile(schema)]),
);

/** What is wrong with a message by the documented form of its receiver; empty when nothing is. */
export function formProblems(form: keyof typeof validators, body: unknown): string[] {
  const validate = validators[form];
  if (!validate) throw new Error(`there is no form ${form}`);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
