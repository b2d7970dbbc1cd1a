// How a delivery is shown: a line with what and when, the headers that its sender chose, its body.
import { parseExact } from '../../core/numbers/exact-json.ts';
import { cell, type Output, printable } from '../output.ts';
import type { Received, Reply } from './receiver.ts';

const MAX_SHOWN_CHARACTERS = 10_000;
/** Of the connection or of Hookyard; what the service adds to every delivery is in the first line. */
const DULL = /^(host|connection|content-length|accept|accept-encoding|user-agent|traceparent|tracestate)$/;
const OWN = /^(.*-)(event-id|delivery-id|attempt|source)$/;

/** The service's own headers, by their suffix: the prefix is a setting (HOOKYARD_HEADER_PREFIX). */
function identityOf(headers: Record<string, string>): {
  eventId?: string;
  deliveryId?: string;
  attempt?: number;
  own: string[];
} {
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

/** With --json one line per delivery, so that it can be read as it goes. */
export function showDelivery(output: Output, request: Received, reply: Reply, forwardedTo: string | undefined): void {
  const { own, ...identity } = identityOf(request.headers);
  const text = request.body.toString('utf8');
  const parsed = parsedJson(text);
  if (output.json) {
    const { method, headers } = request;
    const body = parsed === undefined ? { text } : { body: parsed };
    output.line(JSON.stringify({ ...identity, method, headers, ...body, answered: reply.status }));
    return;
  }
  const attempt = (identity.attempt ?? 1) > 1 ? ` attempt ${identity.attempt}` : '';
  const time = new Date().toLocaleTimeString('en-GB');
  output.line(
    `${time}  ${output.style('bold', request.method)} ${identity.eventId ?? ''}  delivery ${identity.deliveryId ?? '-'}${attempt}`,
  );
  for (const [name, value] of Object.entries(request.headers)) {
    if (!DULL.test(name) && !own.includes(name))
      output.line(`  ${output.style('dim', `${cell(name)}:`)} ${cell(value)}`);
  }
  for (const line of shown(parsed === undefined ? text : JSON.stringify(parsed, null, 2)).split('\n'))
    output.line(`  ${line}`);
  if (forwardedTo) {
    const answered = `${forwardedTo} answered ${reply.status}`;
    const why = reply.status >= 400 ? `: ${cell(reply.body.toString('utf8').slice(0, 300))}` : '';
    output.line(`  ${output.style(reply.status >= 400 ? 'red' : 'green', `-> ${answered}`)}${why}`);
  }
  output.line('');
}

function shown(text: string): string {
  const clean = printable(text);
  const more = clean.length - MAX_SHOWN_CHARACTERS;
  return more > 0 ? `${clean.slice(0, MAX_SHOWN_CHARACTERS)}\n... and ${more} characters more` : clean;
}

function parsedJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
