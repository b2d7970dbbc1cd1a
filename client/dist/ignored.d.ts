/** What of a request the service did not know and ignored. */
export interface Ignored {
    /** Method and path of the request. */
    request: string;
    names: IgnoredName[];
    /** How many others there were. */
    more: number;
}
export interface IgnoredName {
    /** Dotted: `retryPolicy.maxRetry`; a very long one is cut and ends with dots. */
    name: string;
    in: 'query' | 'body';
    /** The known name that is nearest; null when none is near. */
    nearest: string | null;
}
/** Reads the header `X-Ignored`; null when there is none, or nothing in it that is understood. */
export declare function readIgnored(request: string, header: string | null): Ignored | null;
