// hookyard listen: webhooks of a source on this machine, for as long as it runs.
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { onEndRequest } from '../../core/process/end-request.ts';
import { plural } from '../../core/text/words.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import { integer, time } from '../input.ts';
import { sendAgain, sendOne, sendSince, hasKeys, onKeys } from './keyboard.ts';
import { conditionsOf } from './conditions.ts';
import { newSessionFile, removeLeftovers, saveSession, type SessionRecords } from './leftovers.ts';
import {
  forward,
  forwardAddress,
  type LocalReceiver,
  PROBED,
  probe,
  type Received,
  type Reply,
  startReceiver,
  textReply,
} from './receiver.ts';
import { openSession, type Removed, type Session } from './session.ts';
import { identityOf, showDelivery } from './print.ts';
import { onUnread, type Output } from '../output.ts';

export interface ListenOptions {
  source: string;
  forward?: string;
  address?: string;
  host: string;
  filter?: string[];
  eventType?: string[];
  path?: string;
  from?: string;
  retry?: string;
  compact?: boolean;
}

export async function listen(context: Context, portText: string, options: ListenOptions): Promise<void> {
  const { client, output } = context;
  for (const url of [options.forward, options.address]) requireHttp(url);
  const wanted = integer(portText, 'The port');
  if (wanted < 0 || wanted > 65535) throw usage(`The port must be between 0 and 65535, not ${portText}`);
  const since = options.from === undefined ? undefined : time(options.from, '--from');
  const arrivals: Arrivals = { last: null, hasKeys: hasKeys() };
  const receiver = await startReceiver(options.host, wanted, (request) =>
    answer(context, request, options, JSON.stringify(probe(receiver.path)), arrivals),
  );
  let giveBack: (() => void) | undefined;
  try {
    const base = (options.address ?? `http://127.0.0.1:${receiver.port}`).replace(/\/+$/, '');
    // From here on neither a Ctrl-C nor a reader that is gone must leave anything behind.
    const asked = new Promise<void>((resolve) => {
      onEndRequest((_reason, count) => (count === 1 ? resolve() : leave()));
      onUnread(resolve);
    });
    const { organization } = await client.getCaller();
    const { sourceId: ownSourceId, told } = await removeLeftovers(client, organization.id, options.source);
    for (const line of told) output.note(line);
    const session = await openSession(client, {
      ...{ slug: options.source, base, path: receiver.path, port: receiver.port },
      conditions: (its) => conditionsOf(options, its),
      allowPaths: options.path !== undefined,
      ownSourceId,
      onChange: keeper(output, organization.id, options.host, receiver),
    });
    const { source } = session;
    output.note(
      `Listening on port ${receiver.port}${options.forward ? `, forwarding to ${options.forward}` : ''}. Stop with Ctrl-C.`,
    );
    output.note(`Webhooks to ${source.webhookUrl} arrive here; try: hookyard send --source ${source.slug}`);
    if (arrivals.hasKeys) {
      giveBack = onKeys({ r: () => again(context, arrivals) });
      output.note('Press r to send the last delivery again.');
    }
    sendEarlier(context, session, options, since).catch((error: Error) => output.note(`Not sent: ${error.message}`));
    await asked;
    const removed = await session.remove();
    if (removed.left.length > 0)
      throw new CliError(
        EXIT.unavailable,
        `Some records were not removed; delete them manually: ${removed.left.join('; ')}`,
      );
    output.note(`This session's destination and route were removed${withSource(removed, source.slug)}.`);
  } finally {
    giveBack?.();
    await receiver.close();
  }
}

interface Arrivals {
  last: string | null;
  hasKeys: boolean;
}

function again({ client, output }: Context, { last }: Arrivals): void {
  if (last === null) output.note('No delivery to send again yet.');
  else sendAgain(client, last).then(output.note, (error: Error) => output.note(`Not sent: ${error.message}`));
}

async function sendEarlier({ client, output }: Context, session: Session, { retry }: ListenOptions, since?: string) {
  if (retry !== undefined) {
    await sendOne(client, session, retry);
    output.note(`Sending ${retry} here.`);
  }
  if (since === undefined) return;
  const count = await sendSince(client, session, since);
  output.note(`Sending ${plural(count, 'earlier event')} here.`);
}

function withSource({ source }: Removed, slug: string): string {
  if (source === null) return '';
  return source === 'removed'
    ? `, as was the source ${slug}`
    : `; the source ${slug} was kept because other routes use it`;
}

/** Keeps a file of what the session has made, for a session after this one that could not remove it. */
function keeper(
  output: Output,
  organizationId: string,
  host: string,
  { port, path }: LocalReceiver,
): (made: SessionRecords) => void {
  const file = newSessionFile();
  const receiver = `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  let isTold = false;
  return (made) => {
    try {
      if (Object.values(made).every((id) => id === null)) rmSync(file, { force: true });
      else saveSession(file, { ...made, organizationId, hostname: hostname(), receiver });
    } catch (error) {
      if (!isTold)
        output.note(
          `If this session is killed, manually delete the records that it created; the next session cannot remove them because their IDs could not be saved: ${(error as Error).message}`,
        );
      isTold = true;
    }
  };
}

async function answer(
  { output }: Context,
  request: Received,
  { forward: target, compact: isCompact = false }: ListenOptions,
  probeBody: string,
  arrivals: Arrivals,
): Promise<Reply> {
  if (request.body.equals(Buffer.from(probeBody))) return PROBED;
  const address = target === undefined ? null : forwardAddress(target, request);
  const reply = address ? await forward(address, request) : textReply(200, 'ok');
  const { deliveryId } = identityOf(request.headers);
  if (deliveryId !== undefined) arrivals.last = deliveryId;
  showDelivery(output, request, reply, { forwardedTo: address?.url, isCompact, hasKeys: arrivals.hasKeys });
  return reply;
}

/** A second Ctrl-C: the service does not answer, or too slowly. */
function leave(): never {
  process.stderr.write(
    'hookyard: Stopped before everything was removed; the next hookyard listen on this machine will remove the rest.\n',
  );
  process.exit(EXIT.unavailable);
}

function requireHttp(url: string | undefined): void {
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  throw usage(`"${url}" must start with http:// or https://`);
}
