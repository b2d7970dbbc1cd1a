import { setTimeout as delay } from 'node:timers/promises';
import type { Client, DeliveryWithAttempts, DeliveryRequest } from '../../client/index.ts';
import { plural } from '../../core/text/words.ts';
import { usage } from '../errors.ts';
import { type Output, printable } from '../output.ts';
import { showDone } from '../show.ts';
import { type Call, type Resource, type Row, upperFirst } from './operation.ts';
import { showRequest } from './routes.ts';

const ACTIONS = { retry: 'retried', replay: 'replayed', cancel: 'cancelled' } as const;
type Action = keyof typeof ACTIONS;
const DEFAULT_PER_SECOND = 20;
// More does not fit into one call.
const MOST_PER_SECOND = 100;
const FLAGS = {
  codeClass: ['--code-class <class>', 'Status code class of the latest attempt, or none if there was no response'],
  error: ['--error <text>', "Text in the delivery's error"],
} as const;

export const deliveries: Resource = {
  ...{ name: 'deliveries', tag: 'Deliveries', one: 'delivery', about: 'View, retry, replay and cancel deliveries' },
  rows: [
    {
      operation: 'listDeliveries',
      about: 'List deliveries, newest first',
      flags: FLAGS,
      columns: {
        ...{ id: 'id', status: 'status', attempts: 'attemptCount', code: 'statusCode', created: 'createdAt' },
        ...{ next: 'nextAttemptAt', destination: 'destination.name', error: 'error' },
      },
    },
    {
      operation: 'getDelivery',
      about: 'Show a delivery and its attempts',
      show: ({ context: { output } }, delivery: DeliveryWithAttempts) =>
        output.result(delivery, () => showOne(output, delivery)),
    },
    {
      operation: 'getDeliveryRequest',
      name: 'request',
      about: "Show an attempt's request",
      flags: {
        attempt: ['--attempt <n>', 'Attempt number (default: the latest attempt, or 1 if there is none)'],
        includeBody: null,
      },
      extra: (command) =>
        command.option('--without-body', 'Omit the body, for an API key without the payloads:read scope'),
      prepare({ options, query }) {
        if (options.withoutBody) query.includeBody = false;
      },
      show: ({ context: { output } }, answer: DeliveryRequest) => output.result(answer, () => showSent(output, answer)),
    },
    { operation: 'cancelDelivery', about: 'Cancel a delivery', done: '{_} is {status}' },
    ...(Object.keys(ACTIONS) as Action[]).map(
      (action): Row => ({
        operation: 'actOnDeliveries',
        name: `${action}-all`,
        about: `${upperFirst(action)} all deliveries that match the filters, newest first`,
        flags: {
          ...FLAGS,
          ...{ action: null, cursor: null, limit: null },
          dryRun: ['--dry-run', 'Count the deliveries without changing them'],
        },
        extra: (command) =>
          command.option('--rate <n>', 'Deliveries per second, up to 100', String(DEFAULT_PER_SECOND)),
        prepare({ body }) {
          body.action = action;
        },
        run: (call) => actOnAll(call, action),
      }),
    ),
  ],
};

/** Acts on all deliveries that match, at most so many a second; what fails leaves the rest as it is. */
async function actOnAll({ context, options, body }: Call, action: Action): Promise<void> {
  const { client, output } = context;
  const rate = String(options.rate);
  const perSecond = /^\d+$/.test(rate) ? Number(rate) : 0;
  if (perSecond < 1 || perSecond > MOST_PER_SECOND)
    throw usage(`--rate must be a whole number from 1 to ${MOST_PER_SECOND}, not "${rate}"`);
  const selection = body as Parameters<Client['actOnDeliveries']>[0]['body'];
  if (selection.dryRun) {
    const answer = await client.actOnDeliveries({ body: selection });
    return showDone(context, answer, answer.message);
  }
  const all = { deliveriesFound: 0, deliveriesChanged: 0 };
  let cursor: string | null = 'first';
  while (cursor !== null) {
    const began = performance.now();
    const step = { ...selection, cursor, limit: perSecond };
    const answer: Awaited<ReturnType<Client['actOnDeliveries']>> = await client.actOnDeliveries({ body: step });
    all.deliveriesFound += answer.deliveriesFound;
    all.deliveriesChanged += answer.deliveriesChanged;
    cursor = answer.nextCursor;
    if (cursor === null) break;
    output.note(`${all.deliveriesFound} so far`);
    await delay(Math.max(0, (answer.deliveriesFound / perSecond) * 1000 - (performance.now() - began)));
  }
  const message = `${all.deliveriesChanged} of ${plural(all.deliveriesFound, 'delivery')} ${ACTIONS[action]}`;
  showDone(context, { ...all, message }, message);
}

function showOne(output: Output, { attempts, ...fields }: DeliveryWithAttempts): void {
  output.fields(fields);
  if (attempts.length === 0) return;
  output.line('');
  output.table(
    ['attempt', 'started', 'status', 'code', 'ms', 'error', 'response'],
    attempts.map(({ attemptNumber, startedAt, status, statusCode, latency, error, responseBody }) => [
      ...[attemptNumber, startedAt, status, statusCode, latency, error, responseBody || null],
    ]),
  );
}

function showSent(output: Output, { request, problem, doubts, attemptNumber, state }: DeliveryRequest): void {
  output.fields({ attempt: attemptNumber, state, problem: problem?.message });
  for (const { message } of doubts) output.note(message);
  if (request === null) return;
  output.line('');
  showRequest(output, request);
  if (request.body === undefined) return;
  output.line('');
  output.line(printable(request.body));
}
