import type { Command } from 'commander';
import { contextOf } from '../context.ts';
import { collect } from '../input.ts';
import type { ListenOptions } from './listen.ts';

export function addListen(program: Command): void {
  program
    .command('listen <port>')
    .description("Receive a source's webhooks on this machine, until Ctrl-C")
    .requiredOption(
      '--source <source>',
      'Source to receive from (slug or ID); if it does not exist, it is created, and removed when the command exits unless other routes use it',
    )
    .option(
      '--forward <url>',
      'Forward each webhook, with its subpath and query string, to your program and return its response',
    )
    .option(
      '--filter <condition>',
      'Receive only webhooks that match this condition (for example "payload.kind equals order.paid"); repeatable',
      collect,
    )
    .option(
      '--event-type <type>',
      'Receive only webhooks of this event type, as the provider names it; repeatable',
      collect,
    )
    .option('--path <path>', 'Receive only webhooks to this subpath of the ingest URL, or to paths below it')
    .option(
      '--from <time>',
      'Start with the events since this time: ISO 8601, or how long ago (for example 30m, 1h or 7d)',
    )
    .option(
      '--retry <id>',
      'Start with this delivery or event from the source, even if it does not match --filter, --event-type or --path',
    )
    .option('--compact', 'Print one line per delivery')
    .option('--address <url>', 'URL at which the service can reach this machine (default: http://127.0.0.1:<port>)')
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .addHelpText(
      'after',
      `
In a terminal, press r to send the last delivery again.
Creates a destination and a route for this session, and removes them at the end. If listen is killed, the next listen on this machine removes them.
The service must be able to reach this machine. A service on this machine needs HOOKYARD_DELIVERY_ALLOW=127.0.0.1 if it has several
organizations or was not started with npm start or npx hookyard start; for a service on another machine, pass --address (for example the URL of a tunnel).
Port 0 picks a free port.`,
    )
    .action(async (port: string, options: ListenOptions, command: Command) => {
      const { listen } = await import('./listen.ts');
      await listen(contextOf(command), port, options);
    });
}
