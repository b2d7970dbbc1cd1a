import { type Ignored } from './ignored.ts';
/** How one call differs from the others. */
export interface CallOptions {
    /** Ends the call, its waits too; it rejects with the signal's reason. */
    signal?: AbortSignal;
    /** Deadline of each request in ms, instead of that of the client. */
    timeoutMs?: number;
    /** Of a POST: instead of one made here, to repeat it across processes; 1 to 255 visible ASCII characters. */
    idempotencyKey?: string;
}
/** An answer that is no JSON, as it came. */
export interface RawAnswer {
    contentType: string | null;
    bytes: Uint8Array;
}
export interface Settings {
    url: string;
    apiKey: string | undefined;
    timeoutMs: number;
    maxRetries: number;
    maxWaitMs: number;
    userAgent: string | undefined;
    fetch: typeof fetch;
    onIgnored: ((ignored: Ignored) => void) | undefined;
    parseJson: (text: string) => unknown;
}
interface Call {
    method: string;
    /** With its query. */
    path: string;
    body?: unknown;
}
/**
 * Sends a request, again where that is safe and useful, and returns the body of its answer: parsed JSON, undefined where there is
 * none, a `RawAnswer` for other types.
 *
 * Repeated are answers 429 and 503, which say that nothing was done, and a 409 that says that this very POST still runs; of GET
 * and POST also broken connections (a POST carries the same `Idempotency-Key` each time, so it is carried out once). A time-out
 * is not repeated: the caller said how long to wait.
 * @throws HookyardError
 */
export declare function send(settings: Settings, call: Call, options?: CallOptions): Promise<unknown>;
export {};
