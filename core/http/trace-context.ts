// The trace that a webhook belongs to, as its headers say, or a new one (W3C Trace Context,
// www.w3.org/TR/trace-context).

export interface TraceContext {
  /** 32 hex digits in lower case, not all zero. */
  traceId: string;
  /** 16 hex digits in lower case, not all zero. */
  spanId: string;
  isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_VERSION = 'ff';
const ZERO = /^0+$/;
const SAMPLED = 1;

// Section 3.3: at most 32 members; a vendor hands on 512 characters at least. What is longer is not handed on at all.
const MAX_STATE_MEMBERS = 32;
const MAX_STATE_LENGTH = 512;
const STATE_KEY = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/**
 * @returns null for one that is not valid. Of a later version the part that every version has is read, as section 3.2.4
 * asks for
 */
export function parseTraceparent(text: string | null | undefined): TraceContext | null {
  if (!text) return null;
  const [, version = NO_VERSION, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === NO_VERSION || (version === '00' && more !== undefined)) return null;
  if (ZERO.test(traceId) || ZERO.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The last 7 bytes of an id have to be random (level 2, section 3.2.2.3.1); Node draws those of many UUIDs at once. */
const randomHex = (): string => crypto.randomUUID().replaceAll('-', '');

export const newTraceparent = (isSampled: boolean): string =>
  formatTraceparent({ traceId: randomHex(), spanId: randomHex().slice(16), isSampled });

export function isTracestate(text: string): boolean {
  if (text.length > MAX_STATE_LENGTH) return false;
  const members = text.split(',').map((member) => member.trim());
  const keys = members.filter((member) => member !== '').map((member) => member.slice(0, member.indexOf('=')));
  return (
    keys.length > 0 &&
    keys.length <= MAX_STATE_MEMBERS &&
    new Set(keys).size === keys.length &&
    members.every((member) => member === '' || isMember(member))
  );
}

function isMember(member: string): boolean {
  const end = member.indexOf('=');
  return end > 0 && STATE_KEY.test(member.slice(0, end)) && STATE_VALUE.test(member.slice(end + 1));
}

type Headers = Readonly<Record<string, string>>;

/** The trace that a webhook came with. @param received its headers, names in lower case; null: they are gone */
export function receivedTrace(received: Headers | null): TraceContext | null {
  return parseTraceparent(received?.traceparent);
}

/** What its vendors keep beside it; null: nothing that can be handed on. */
export function receivedState(received: Headers | null): string | null {
  const state = received?.tracestate;
  return state !== undefined && isTracestate(state) ? state : null;
}

/**
 * Leaves of what a sender says of its trace what can be handed on: `tracestate` goes only with the trace that it is
 * about.
 * @param forwarded of the received headers those that travel; changed in place
 * @param received names in lower case
 * @param sent the trace that the destination is told of: the sender's continues, another one takes its place, or (null)
 * none but what is forwarded
 */
export function keepTrace(
  forwarded: Record<string, string>,
  received: Headers,
  sent: 'continued' | 'another' | null,
): void {
  if (received.traceparent === undefined && received.tracestate === undefined) return;
  const isValid = receivedTrace(received) !== null;
  if (!isValid) delete forwarded.traceparent;
  const travels = sent === 'continued' || (sent === null && forwarded.traceparent !== undefined);
  if (!isValid || !travels || receivedState(received) === null) delete forwarded.tracestate;
}
