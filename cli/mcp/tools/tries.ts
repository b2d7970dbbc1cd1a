// What filters, transforms and routes make of an event, before anything is changed or sent.
import { z } from 'zod';
import type { Client } from '../../../client/index.ts';
import { isFormType } from '../../../core/forms/forms.ts';
import { TRANSFORM_TYPES } from '../../../core/config/transform-types.ts';
import { plural } from '../../../core/text/words.ts';
import { usage } from '../../errors.ts';
import { findId } from '../../operations.ts';
import { cell } from '../../output.ts';
import { shortText, shownText, tool, inputs } from '../tool.ts';

/** Characters of an output that is shown as it is; a longer one is shown as text, its beginning. */
const MOST_OUTPUT = 8192;

const sample = {
  event: inputs.event.optional().describe('ID of a stored event to use; requires the payloads:read scope'),
  payload: z.unknown().optional().describe('Payload as JSON, instead of an event'),
};

interface Sample {
  payload?: unknown;
  headers?: Record<string, string>;
  path?: string;
  query?: string;
  method?: 'POST' | 'PUT' | 'PATCH';
}

async function sampleOf(
  client: Client,
  { event: id, payload }: { event?: string | undefined; payload?: unknown },
): Promise<Sample> {
  if (id === undefined) {
    if (payload === undefined)
      throw usage('Pass either "event" (the ID of a stored event; use list_events to find one) or "payload"');
    return { payload };
  }
  const event = await client.getEvent({ id, includePayload: true });
  const isRead = event.payloadEncoding === undefined && !isOtherText(event.payload, event.headers['content-type']);
  if (!isRead)
    throw usage(
      `The payload of ${id} is neither JSON nor text-only form data; use preview_route to see the request that a route would send`,
    );
  return { payload: event.payload, headers: event.headers, path: event.path, query: event.query, method: event.method };
}

/** The API gives the text of what is no JSON; JSON may be a text, too, and a form is read where it is tried. */
const isOtherText = (payload: unknown, contentType: string | undefined) =>
  typeof payload === 'string' && !/\bjson\b/i.test(contentType ?? '') && !isFormType(contentType);

export const tryTransform = tool({
  name: 'try_transform',
  title: 'Test a transform',
  description:
    'Runs a stored transform, or code that you pass, on a stored event or your own payload, and shows the output, or the error with ' +
    'its line number. Nothing is sent or changed. Code receives the payload, headers, method, path and query; for example, { "id": payload.order.id } in JSONata, or ' +
    'export default (event) => ({ id: event.payload.order.id }) in JavaScript.',
  input: z.strictObject({
    transform: z.string().min(1).max(200).describe('ID, slug or name of a stored transform').optional(),
    code: z.string().min(1).max(65_536).describe('Code to run, instead of a stored transform').optional(),
    type: z.enum(TRANSFORM_TYPES).describe("The code's language").optional(),
    ...sample,
  }),
  more: 'Return less from the transform.',
  async run({ client }, { transform, code, type, ...args }) {
    if ((transform === undefined) === (code === undefined))
      throw usage('Pass either "transform" (a stored transform) or "code" with its "type"');
    if (code !== undefined && type === undefined)
      throw usage(`Pass the "type" of the code: ${TRANSFORM_TYPES.join(', ')}`);
    const body = await sampleOf(client, args);
    const result =
      code !== undefined && type !== undefined
        ? await client.testCode({ body: { ...body, code, type } })
        : await client.testTransform({ id: await findId(client, 'transform', transform ?? ''), body });
    if (!result.success) return { summary: cell(`The transform failed: ${result.error.message}`), data: result };
    return { summary: `The transform took ${result.durationMs} ms.`, data: { ...result, ...outputOf(result.output) } };
  },
});

function outputOf(output: unknown): { output: unknown; isCut: boolean } {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const isCut = text.length > MOST_OUTPUT;
  return { output: isCut ? shortText(text, MOST_OUTPUT) : output, isCut };
}

export const tryFilter = tool({
  name: 'try_filter',
  title: 'Test a filter',
  description:
    'Tests a stored event or your own payload against a stored filter, or against conditions that you pass, and shows which conditions are met. ' +
    'A field is payload.<path>, headers.<name>, query.<name>, request.path or method.',
  input: z.strictObject({
    filter: z.string().min(1).max(200).describe('ID, slug or name of a stored filter').optional(),
    conditions: z
      .array(z.strictObject({ field: z.string(), operator: z.string(), value: z.unknown().optional() }))
      .min(1)
      .max(50)
      .describe(
        'Conditions to test, instead of a stored filter (for example [{"field": "payload.kind", "operator": "equals", "value": "order.paid"}])',
      )
      .optional(),
    logic: z.enum(['AND', 'OR']).describe('Whether all conditions (AND) or any condition (OR) must be met').optional(),
    ...sample,
  }),
  more: 'Pass fewer conditions.',
  async run({ client }, { filter, conditions, logic, ...args }) {
    if ((filter === undefined) === (conditions === undefined))
      throw usage('Pass either "filter" (a stored filter) or "conditions"');
    const body = await sampleOf(client, args);
    const result =
      conditions === undefined
        ? await client.testFilter({ id: await findId(client, 'filter', filter ?? ''), body })
        : await client.testConditions({ body: { ...body, conditions: conditions as Conditions, logic } });
    return {
      summary: result.matches ? 'The event matches the filter.' : 'The event does not match the filter.',
      data: result,
    };
  },
});

/** The API knows the operators, and says which there are. */
type Conditions = Parameters<Client['testConditions']>[0]['body']['conditions'];

export const previewRoute = tool({
  name: 'preview_route',
  title: 'Preview a route',
  description:
    'Shows what a route would do with a stored event now: whether the event matches its filter and schema, and the requests that it would send (secrets ' +
    'masked). Nothing is sent. Requires the payloads:read scope.',
  input: z.strictObject({
    route: z.string().min(1).max(200).describe('Route name or ID'),
    event: inputs.event,
    payloadBytes: inputs.payloadBytes,
  }),
  more: 'Pass a smaller payloadBytes.',
  async run({ client }, { route, event: eventId, payloadBytes }) {
    const id = await findId(client, 'route', route);
    const { content, ...preview } = await client.previewRoute({ id, body: { eventId } });
    const sent = preview.requests.filter(({ enabled, request }) => enabled && request !== null).length;
    const why = preview.error === null ? '' : ` (${preview.error})`;
    return {
      summary: cell(`Verdict: ${preview.verdict}${why}; ${plural(sent, 'request')} would be sent.`),
      data: {
        ...preview,
        content: content && shownText(content.body, content.bodyEncoding, content.bodySize, payloadBytes),
      },
    };
  },
});
