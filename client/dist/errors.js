/** Whatever a call can fail with, besides the abort of its `signal`. The message says what to do, and names no secret. */
export class HookyardError extends Error {
    name = 'HookyardError';
    /** The HTTP status; null when there was no answer. */
    status;
    /**
     * The API's code (`VALIDATION_ERROR`, `RESOURCE_NOT_FOUND`, ...), null where it gives none. Of the client itself: `UNREACHABLE`,
     * `TIMEOUT`, and `NOT_HOOKYARD` when something else answered.
     */
    code;
    /** What is wrong with which member of the request; empty for most errors. */
    details;
    /** Under which the service's log has the request; null when there was no answer. */
    requestId;
    /** How long the service asks to wait, in ms; null when it does not say. */
    retryAfterMs;
    /** With which a POST can be sent again by hand without being carried out twice; null for other methods. */
    idempotencyKey;
    constructor(message, members) {
        super(message, members.cause === undefined ? {} : { cause: members.cause });
        this.status = members.status ?? null;
        this.code = members.code ?? null;
        this.details = members.details ?? [];
        this.requestId = members.requestId ?? null;
        this.retryAfterMs = members.retryAfterMs ?? null;
        this.idempotencyKey = members.idempotencyKey ?? null;
    }
}
