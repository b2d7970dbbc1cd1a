// hookyard deliveries: the deliveries of events to destinations.
import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { findDestination, findRoute, integer, pageOf, withPages } from '../input.ts';
import { type Output, printable } from '../output.ts';
import { showDone, showPage } from './show.ts';

type Filters = NonNullable<Parameters<Client['listDeliveries']>[0]>;

export function addDeliveries(program: Command): void {
  const deliveries = program.command('deliveries').description('what became of events at each destination');
  withPages(deliveries.command('list'))
    .description('list deliveries, newest first')
    .option(
      '--status <status>',
      'pending, retrying, circuit_open, delivered, failed, failed_over, schema_failed, filter_failed, skipped, cancelled',
    )
    .option('--event <id>')
    .option('--route <route>', 'name or id')
    .option('--destination <destination>', 'name or id')
    .option('--from <date>', 'ISO 8601')
    .option('--to <date>', 'ISO 8601')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const filters: Filters = {
        ...pageOf(options),
        status: options.status,
        eventId: options.event,
        routeId: options.route && (await findRoute(client, options.route)),
        destinationId: options.destination && (await findDestination(client, options.destination)),
        from: options.from,
        to: options.to,
      };
      showPage(context, await client.listDeliveries(filters), {
        id: (delivery) => delivery.id,
        status: (delivery) => delivery.status,
        attempts: (delivery) => delivery.attemptCount,
        code: (delivery) => delivery.statusCode,
        created: (delivery) => delivery.createdAt,
        next: (delivery) => delivery.nextAttemptAt,
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
