// hookyard deliveries: the deliveries of events to destinations.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client, Delivery } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import { findDestination, findRoute, findSource, integer, pageOf, time, withParts, withTimes } from '../input.ts';
import { type Output, printable } from '../output.ts';
import { showDone, showPage } from './show.ts';

const ACTIONS = ['retry', 'replay', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];
const DONE: Record<Action, string> = { retry: 'retried', replay: 'replayed', cancel: 'cancelled' };
const DEFAULT_PER_SECOND = 20;
// More does not fit into one call.
const MOST_PER_SECOND = 100;

type Filters = Omit<NonNullable<Parameters<Client['listDeliveries']>[0]>, 'page' | 'pageSize'>;

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('what became of events at each destination');
  withFilters(withParts(deliveries.command('list')))
    .description('list deliveries, newest first')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const filters = await filtersOf(client, options);
      const page = pageOf(options);
      const { cursor } = options;
      const answer = await (cursor === undefined
        ? client.listDeliveries({ ...filters, ...page })
        : client.listDeliveries({ ...filters, cursor, pageSize: page.pageSize }));
      showPage<Delivery>(context, answer, {
        id: (delivery) => delivery.id,
        status: (delivery) => delivery.status,
        attempts: (delivery) => delivery.attemptCount,
        code: (delivery) => delivery.statusCode,
        created: (delivery) => delivery.createdAt,
        next: (delivery) => delivery.nextAttemptAt,
        destination: (delivery) => delivery.destination.name,
        error: (delivery) => delivery.error,
      });
    });
  deliveries
    .command('show <id>')
    .description('show one, with its attempts')
    .action(async (id: string, _options, command: Command) => {
      const { client, output } = contextOf(command);
      const delivery = await client.getDelivery({ id });
      output.result(delivery, () => {
        const { attempts, ...fields } = delivery;
        output.fields(fields);
        if (attempts.length === 0) return;
        output.line('');
        output.table(
          ['attempt', 'started', 'status', 'code', 'ms', 'error', 'answer'],
          attempts.map((attempt) => [
            attempt.attemptNumber,
            attempt.startedAt,
            attempt.status,
            attempt.statusCode,
            attempt.latency,
            attempt.error,
            attempt.responseBody || null,
          ]),
        );
      });
    });
  deliveries
    .command('request <id>')
    .description('show the request of an attempt as it was or will be sent')
    .option('--attempt <n>', 'which one; by default the latest that was made')
    .option('--without-body', 'for a key that may not read payloads')
    .action(async (id: string, options, command: Command) => {
      const { client, output } = contextOf(command);
      const answer = await client.getDeliveryRequest({
        id,
        attempt: integer(options.attempt, '--attempt'),
        includeBody: options.withoutBody ? false : undefined,
      });
      output.result(answer, () => showRequest(output, answer));
    });
  deliveries
    .command('retry <id>')
    .description('make the next attempt now')
    .action(async (id: string, _options, command: Command) => {
      const context = contextOf(command);
      const answer = await context.client.retryDelivery({ id });
      showDone(context, answer, answer.message);
    });
  deliveries
    .command('cancel <id>')
    .description('make no further attempt')
    .action(async (id: string, _options, command: Command) => {
      const context = contextOf(command);
      const answer = await context.client.cancelDelivery({ id });
      showDone(context, answer, `${id} is ${answer.status}`);
    });
  deliveries
    .command('replay <id>')
    .description('deliver the event to the destination again, as a new delivery')
    .action(async (id: string, _options, command: Command) => {
      const context = contextOf(command);
      const answer = await context.client.replayDelivery({ id });
      showDone(context, answer, answer.message);
    });
  for (const action of ACTIONS) {
    withFilters(deliveries.command(`${action}-all`))
      .description(`${action} all that match the filters, the newest first`)
      .option('--rate <n>', 'deliveries a second, at most 100', String(DEFAULT_PER_SECOND))
      .option('--dry-run', 'count them, and change nothing')
      .action((options: BulkOptions, command: Command) => bulk(action, options, command));
  }
}

const withFilters = (command: Command): Command =>
  withTimes(command)
    .option(
      '--status <status>',
      'pending, retrying, circuit_open, delivered, failed, failed_over, schema_failed, filter_failed, skipped, cancelled; or several with commas',
    )
    .option('--event <id>')
    .option('--source <source>', 'slug or id')
    .option('--route <route>', 'name or id')
    .option('--destination <destination>', 'name or id')
    .option('--code <n>', 'status code of the latest attempt')
    .option('--code-class <class>', '1xx, 2xx, 3xx, 4xx, 5xx, or none: there was no answer')
    .option('--error <text>', 'in the error of the latest attempt')
    .option('--lane <lane>', 'workflow or express');

/** The filters of the API that the options name. */
async function filtersOf(client: Client, options: Record<string, string | undefined>): Promise<Filters> {
  const { source, route, destination } = options;
  return {
    status: options.status as Filters['status'],
    eventId: options.event,
    sourceId: source && (await findSource(client, source)).id,
    routeId: route && (await findRoute(client, route)),
    destinationId: destination && (await findDestination(client, destination)),
    statusCode: integer(options.code, '--code'),
    codeClass: options.codeClass as Filters['codeClass'],
    error: options.error,
    lane: options.lane as Filters['lane'],
    from: time(options.from),
    to: time(options.to),
  };
}

interface BulkOptions {
  rate: string;
  dryRun?: boolean;
}

/** Acts on all deliveries that match, at most so many a second; what fails leaves the rest as it is. */
async function bulk(action: Action, { rate, dryRun, ...options }: BulkOptions, command: Command): Promise<void> {
  const context = contextOf(command);
  const { client, output } = context;
  const perSecond = /^\d+$/.test(rate) ? Number(rate) : 0;
  if (perSecond < 1 || perSecond > MOST_PER_SECOND)
    throw usage(`--rate must be a whole number from 1 to ${MOST_PER_SECOND}, not "${rate}"`);
  const { status, ...filters } = await filtersOf(client, options);
  const selection = { ...filters, action, ...(status && { status: String(status).split(',') as never }) };
  if (dryRun) {
    const answer = await client.actOnDeliveries({ body: { ...selection, dryRun } });
    return showDone(context, answer, answer.message);
  }
  const all = { deliveriesFound: 0, deliveriesChanged: 0 };
  let cursor: string | null = 'first';
  while (cursor !== null) {
    const began = performance.now();
    const answer: Awaited<ReturnType<Client['actOnDeliveries']>> = await client.actOnDeliveries({
      body: { ...selection, cursor, limit: perSecond },
    });
    all.deliveriesFound += answer.deliveriesFound;
    all.deliveriesChanged += answer.deliveriesChanged;
    cursor = answer.nextCursor;
    if (cursor === null) break;
    output.note(`${all.deliveriesFound} so far`);
    await delay(Math.max(0, (answer.deliveriesFound / perSecond) * 1000 - (performance.now() - began)));
  }
  const message = `${all.deliveriesChanged} of ${all.deliveriesFound} deliveries were ${DONE[action]}`;
  showDone(context, { ...all, message }, message);
}

function showRequest(
  output: Output,
  { request, problem, doubts, attemptNumber, state }: Awaited<ReturnType<Client['getDeliveryRequest']>>,
): void {
  output.fields({ attempt: attemptNumber, state, problem: problem?.message });
  for (const { message } of doubts) output.note(message);
  if (request === null) return;
  output.line('');
  output.line(printable(`${request.method} ${request.url}`));
  for (const [name, value] of Object.entries(request.headers)) {
    output.line(`${output.style('dim', printable(name))}: ${printable(value)}`);
  }
  if (request.body === undefined) return;
  output.line('');
  output.line(printable(request.body));
}
