// How a delivery is shown: a line with what and when, the headers that its sender chose, its body.
import { headerTexts } from '../../core/http/headers.ts';
import { parseExact } from '../../core/text/exact-json.ts';
import { plural } from '../../core/text/words.ts';
import { cell, type Output, printable } from '../output.ts';
import type { Received, Reply } from './receiver.ts';

const MAX_SHOWN_CHARACTERS = 10_000;
/** Of the connection or of Hookyard; what the service adds to every delivery is in the first line. */
const DULL = /^(host|connection|content-length|accept|accept-encoding|user-agent|traceparent|tracestate)$/;
const OWN = /^(.*-)(event-id|delivery-id|attempt|source)$/;

export interface Identity {
  eventId?: string;
  deliveryId?: string;
  attempt?: number;
  own: string[];
}

/** The service's own headers, by their suffix: the prefix is a setting (HOOKYARD_HEADER_PREFIX). */
export function identityOf(headers: Record<string, string>): Identity {
  const prefix = Object.keys(headers)
    .find((name) => /-delivery-id$/.test(name) && headers[name]?.startsWith('dlv_'))
    ?.replace(/delivery-id$/, '');
  if (prefix === undefined) return { own: [] };
  return {
    eventId: headers[`${prefix}event-id`],
    deliveryId: headers[`${prefix}delivery-id`],
    attempt: Number(headers[`${prefix}attempt`]),
    own: Object.keys(headers).filter((name) => name.startsWith(prefix) && OWN.test(name)),
  };
}

interface Shown {
  hasKeys: boolean;
  forwardedTo: string | undefined;
  isCompact: boolean;
}

/** With --json one line per delivery, so that it can be read as it goes. */
export function showDelivery(output: Output, request: Received, reply: Reply, shown: Shown): void {
  const { own, ...identity } = identityOf(request.headers);
  const text = request.body.toString('utf8');
  const parsed = parsedJson(text);
  if (output.json) {
    const { method, path, query } = request;
    const headers = headerTexts(request.headers);
    const body = parsed === undefined ? { text } : { body: parsed };
    output.line(JSON.stringify({ ...identity, method, path, query, headers, ...body, answered: reply.status }));
    return;
  }
  const { isCompact, forwardedTo, hasKeys } = shown;
  const answered = isCompact ? `  ${answerText(output, reply, isCompact)}` : '';
  output.line(`${headline(output, request, identity)}${answered}`);
  if (isCompact) return;
  for (const [name, value] of Object.entries(headerTexts(request.headers))) {
    if (!DULL.test(name) && !own.includes(name))
      output.line(`  ${output.style('dim', `${cell(name)}:`)} ${cell(value)}`);
  }
  for (const line of bounded(parsed === undefined ? text : JSON.stringify(parsed, null, 2)).split('\n'))
    output.line(`  ${line}`);
  if (forwardedTo) {
    output.line(`  ${answerText(output, reply, isCompact, forwardedTo)}`);
    if (reply.status >= 400 && identity.deliveryId) {
      const key = hasKeys ? 'press r, or run ' : '';
      output.line(`  retry now: ${key}hookyard deliveries retry ${identity.deliveryId}`);
    }
  }
  output.line('');
}

function headline(output: Output, { method, path, query }: Received, of: Omit<Identity, 'own'>): string {
  const time = new Date().toLocaleTimeString('en-GB');
  const below = cell(`${path}${query && `?${query}`}`);
  const attempt = (of.attempt ?? 1) > 1 ? ` attempt ${of.attempt}` : '';
  const what = [output.style('bold', method), below, of.eventId ?? ''].filter((part) => part !== '');
  return `${time}  ${what.join(' ')}  delivery ${of.deliveryId ?? '-'}${attempt}`;
}

function answerText(output: Output, { status, body }: Reply, isCompact: boolean, by?: string): string {
  const failed = status >= 400;
  const why = failed && !isCompact ? `: ${cell(body.toString('utf8').slice(0, 300))}` : '';
  return output.style(failed ? 'red' : 'green', `-> ${by === undefined ? '' : `${by} returned `}${status}`) + why;
}

function bounded(text: string): string {
  const clean = printable(text);
  const more = clean.length - MAX_SHOWN_CHARACTERS;
  return more > 0 ? `${clean.slice(0, MAX_SHOWN_CHARACTERS)}\n... and ${plural(more, 'more character')}` : clean;
}

function parsedJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
