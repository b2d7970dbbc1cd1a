// Keys that are pressed while hookyard listen runs in a terminal.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Client, Event } from '../../client/index.ts';
import { usage } from '../errors.ts';
import type { Session } from './session.ts';

const CTRL_C = '\u0003';

/**
 * Whether keys of the terminal come to this process. One in the background that reads them is stopped by the system.
 */
export function hasKeys(): boolean {
  return process.stdin.isTTY === true && (process.platform === 'win32' || isInForeground());
}

function isInForeground(): boolean {
  const [own, terminal] = processGroups();
  return own !== undefined && own === terminal;
}

function processGroups(): (string | undefined)[] {
  try {
    // proc_pid_stat(5): after the name in brackets the state, the parent, the group, the session, the terminal, its
    // group.
    const [, , group, , , ofTerminal] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return [group, ofTerminal];
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
    return (stdout ?? '').trim().split(/\s+/);
  }
}

/** @returns what gives the terminal back */
export function onKeys(handlers: Readonly<Record<string, () => void>>): () => void {
  const { stdin } = process;
  // Key by key, which Ctrl-C then is, too.
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  const pressed = (keys: string) => {
    for (const key of keys) {
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (Object.hasOwn(handlers, key)) handlers[key]?.();
    }
  };
  stdin.on('data', pressed);
  return () => {
    stdin.off('data', pressed);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

// What a session of hookyard listen has sent again: the last delivery, one of before, or all since a time.

/** Events that are looked at one by one when the session takes only some. */
const MOST_LOOKED_AT = 1000;

/** Has a delivery made again at once. @returns what was done @throws CliError, HookyardError */
export async function sendAgain(client: Client, id: string): Promise<string> {
  const { status } = await client.getDelivery({ id });
  if (status === 'retrying') {
    await client.retryDelivery({ id });
    return `Retrying ${id}`;
  }
  // Its answer is not recorded yet, or it is held.
  if (status === 'pending' || status === 'circuit_open')
    throw usage(`${id} is still ${status === 'pending' ? status : 'held'}`);
  const { deliveryId } = await client.replayDelivery({ id });
  return `Replayed ${id} as ${deliveryId}`;
}

/** Sends the event of a delivery, or an event, to this session. @throws CliError, HookyardError */
export async function sendOne(client: Client, session: Session, id: string): Promise<void> {
  const event = await client.getEvent({ id: id.startsWith('dlv_') ? (await client.getDelivery({ id })).eventId : id });
  if (event.sourceId !== session.source.id)
    throw usage(`${id} belongs to the source ${event.source.name}; listen to that source to receive it here`);
  const answer = await client.replayEvent({ id: event.id, body: { destinationIds: [session.destinationId] } });
  if (answer.deliveriesCreated === 0) throw usage(answer.message);
}

/** Sends what arrived before the session began to this session. @returns how many events */
export async function sendSince(client: Client, session: Session, from: string): Promise<number> {
  const { source, destinationId, routeId, since: to, isFiltered } = session;
  const range = { sourceId: source.id, from, to };
  if (!isFiltered) {
    const body = { ...range, destinationIds: [destinationId] };
    const counted = await client.createEventReplay({ body: { ...body, dryRun: true } });
    const count = (counted.eventsTotal ?? 0) - counted.eventsExpired;
    if (count > 0) await client.createEventReplay({ body });
    return count;
  }
  // A replay asks no filter, so each event is looked at.
  const events: Event[] = [];
  for await (const event of client.each('listEvents', range)) {
    if (events.length === MOST_LOOKED_AT)
      throw usage(
        `There are more than ${MOST_LOOKED_AT} events since ${from}; pass a later --from, or omit --filter, --event-type and --path`,
      );
    events.push(event);
  }
  let count = 0;
  for (const { id } of events.toReversed()) {
    const { verdict } = await client.previewRoute({ id: routeId, body: { eventId: id } });
    if (verdict !== 'taken') continue;
    const { deliveriesCreated } = await client.replayEvent({ id, body: { destinationIds: [destinationId] } });
    count += deliveriesCreated;
  }
  return count;
}
