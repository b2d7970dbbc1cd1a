/** One thing wrong with one member of a request. */
export interface Detail {
  /** Dotted: `retryPolicy.maxRetries`; empty for the whole. */
  path: string;
  message: string;
}

/** Every error of a call, except the abort of its `signal`. The message says what to do, and contains no secret. */
export class HookyardError extends Error {
  override readonly name = 'HookyardError';
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /**
   * The API's code (`VALIDATION_ERROR`, `RESOURCE_NOT_FOUND`, ...), null where it gives none. Of the client itself:
   * `UNREACHABLE`, `TIMEOUT`, and `NOT_HOOKYARD` when something else answered.
   */
  readonly code: string | null;
  /** Problems of single members of the request; empty for most errors. */
  readonly details: readonly Detail[];
  /** The limit of the organization that the request would exceed (`eventsPerSecond`, ...); null for other errors. */
  readonly limit: string | null;
  /** Under which the service's log has the request; null when there was no answer. */
  readonly requestId: string | null;
  /** How long the service asks to wait, in ms; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** With which a POST can be sent again by hand without being carried out twice; null for other methods. */
  readonly idempotencyKey: string | null;

  constructor(message: string, members: Partial<Omit<HookyardError, 'name' | 'message'>> & { cause?: unknown }) {
    super(message, members.cause === undefined ? {} : { cause: members.cause });
    this.status = members.status ?? null;
    this.code = members.code ?? null;
    this.details = members.details ?? [];
    this.limit = members.limit ?? null;
    this.requestId = members.requestId ?? null;
    this.retryAfterMs = members.retryAfterMs ?? null;
    this.idempotencyKey = members.idempotencyKey ?? null;
  }
}
