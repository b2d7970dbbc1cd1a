// Why a webhook was refused, and what is kept of it.
// Rules: SRC-37, SRC-38.
import { headerTexts } from '../../core/http/header-text.ts';
import { newId } from '../../core/text/ids.ts';
import { KEPT_PAYLOAD_BYTES, type Refusal, type RefusalCause, type RefusedWebhook } from '../../core/ingest/refusal.ts';
import { shownHeaders } from '../../core/ingest/shown-headers.ts';
import { secretHeaders } from '../../core/verification/index.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { ApiError } from '../request/errors.ts';
import type { Arrival } from './arrival.ts';
import type { SourceRouting } from './routing.ts';

const BY_CODE: Readonly<Record<string, RefusalCause>> = {
  INVALID_SIGNATURE: 'signature',
  SOURCE_DISABLED: 'disabled',
  ORGANIZATION_SUSPENDED: 'suspended',
  PAYLOAD_TOO_LARGE: 'too_large',
  INCOMPLETE_BODY: 'incomplete',
  REQUEST_TIMEOUT: 'too_slow',
  LIMIT_EXCEEDED: 'limit',
  UNAVAILABLE: 'unavailable',
};

/** @param error what its receipt has ended with */
export function refusalOf(error: unknown, { cause }: Pick<Arrival, 'cause'>): Refusal {
  if (error instanceof ApiError) {
    const { status, code = '', message, limit = null } = error;
    return { cause: cause ?? BY_CODE[code] ?? 'error', limit, status, message };
  }
  // The answers are those of renderErrors (api/request/errors.ts), without the id of the request.
  return isTransientDatabaseError(error)
    ? { cause: 'unavailable', limit: null, status: 503, message: 'The database cannot be reached or is overloaded' }
    : { cause: 'error', limit: null, status: 500, message: 'Something went wrong' };
}

/** What is kept of a refused webhook. It holds on to nothing large: of the body, the beginning is copied. */
export function refusedWebhook(arrival: Arrival, source: SourceRouting, refusal: Refusal): RefusedWebhook {
  const { receivedAt, method, clientAddress, body, headers } = arrival;
  return {
    ...refusal,
    id: newId('ref', receivedAt.getTime()),
    organizationId: source.organizationId,
    sourceId: source.sourceId,
    at: receivedAt,
    method,
    clientAddress,
    headers: shownHeaders(headerTexts(headers), { names: signatureHeaders(source), texts: tokensIn(arrival, source) }),
    payloadSize: body === null ? announcedSize(headers) : body.length,
    payloadStart: body && Buffer.from(body.subarray(0, KEPT_PAYLOAD_BYTES)),
  };
}

/** The header of a signature may have any name. */
function signatureHeaders({ verification, previous, provided }: SourceRouting): string[] {
  const scheme = provided?.provider?.verification;
  if (scheme !== undefined) return secretHeaders(scheme);
  return [verification, previous?.verification].flatMap((its) =>
    its !== undefined && 'header' in its ? [its.header.toLowerCase()] : [],
  );
}

// Shorter ones were made up, and could be a part of any text.
const SHORTEST_TOKEN = 16;

function tokensIn({ below }: Arrival, { tokens: { current, previous } }: SourceRouting): string[] {
  const [, first = null] = below.split('/');
  const texts = [first, current, previous?.token ?? null];
  return texts.filter((text): text is string => text !== null && text.length >= SHORTEST_TOKEN);
}

function announcedSize(headers: Readonly<Record<string, string>>): number | null {
  const length = headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}
