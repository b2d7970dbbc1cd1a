// pause and resume, of routes and of destinations alike.
import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { given, integer } from '../input.ts';
import { showDone } from './show.ts';

type Pause = Awaited<ReturnType<Client['pauseRoute']>>;
type PauseBody = NonNullable<Parameters<Client['pauseRoute']>[0]['body']>;
type ResumeBody = NonNullable<Parameters<Client['resumeRoute']>[0]['body']>;

/** The operations of one kind of records. */
interface Pausable {
  kind: 'route' | 'destination';
  find: (client: Client, name: string) => Promise<string>;
  pause: (client: Client, id: string, body: PauseBody) => Promise<Pause>;
  resume: (client: Client, id: string, body: ResumeBody) => Promise<Pause>;
}

/** @param records the command that they are added to */
export function addPauses(records: Command, { kind, find, pause, resume }: Pausable): void {
  records
    .command(`pause <${kind}>`)
    .description('let its deliveries wait until it is resumed; webhooks are taken as before')
    .option('--reason <text>', 'shown wherever the pause is')
    .option('--until <time>', 'when it ends by itself, ISO 8601')
    .action(async (name: string, options: { reason?: string; until?: string }, command: Command) => {
      const context = contextOf(command);
      const id = await find(context.client, name);
      const answer = await pause(context.client, id, given({ reason: options.reason, until: options.until }));
      const end =
        answer.pausedUntil === null ? `hookyard ${kind}s resume ${id} ends that` : `until ${answer.pausedUntil}`;
      showDone(context, answer, `${name} is paused; ${end}`);
    });
  records
    .command(`resume <${kind}>`)
    .description('end its pause; what waits goes out in the order of receipt')
    .option('--rate <n>', 'how many per second (as the server is set: 50)')
    .action(async (name: string, options: { rate?: string }, command: Command) => {
      const context = contextOf(command);
      const id = await find(context.client, name);
      const answer = await resume(context.client, id, given({ releasePerSecond: integer(options.rate, '--rate') }));
      showDone(context, answer, `${name} is not paused; what waits goes out in the order of receipt`);
    });
}
