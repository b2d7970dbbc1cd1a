import { type Operations, type Pagination } from '../api.ts';
import { type CallOptions } from '../http.ts';
import type { Ignored } from './ignored.ts';
export type * from '../api.ts';
export { type Detail, HookyardError } from './errors.ts';
export type { CallOptions, RawAnswer } from '../http.ts';
export type { Ignored, IgnoredName } from './ignored.ts';
export interface ClientOptions {
    /** Where the service is, for example `https://hooks.example.com`; a path is kept. */
    url: string;
    /** `whr_...`; without it only what is open to everyone can be asked for. */
    apiKey?: string;
    /** Deadline of each request, its answer's body included, in ms. Default 30,000. */
    timeoutMs?: number;
    /** How often a request is repeated at most. Default 4; 0 never repeats. */
    maxRetries?: number;
    /** How long a call waits between its repeats in all, in ms. Default 60,000. */
    maxWaitMs?: number;
    /** Sent as `User-Agent` where the runtime lets it. */
    userAgent?: string;
    /** Instead of the runtime's own. */
    fetch?: typeof fetch;
    /** Called when the service did not know parts of a request and ignored them: a misspelt filter, for example. */
    onIgnored?: (ignored: Ignored) => void;
    /** Reads JSON answers, instead of JSON.parse, which rounds numbers of payloads and conditions to doubles. Throws when it is none. */
    parseJson?: (text: string) => unknown;
}
type Page<Item> = {
    data: Item[];
    pagination: Pagination;
};
/** The operations that answer with one page of a list. */
export type ListName = {
    [Name in keyof Operations]: Awaited<ReturnType<Operations[Name]>> extends Page<unknown> ? Name : never;
}[keyof Operations];
type Input<Name extends keyof Operations> = Parameters<Operations[Name]>[0];
type Item<Name extends ListName> = Awaited<ReturnType<Operations[Name]>>['data'][number];
/** A method per operation, and `each`: the items of all pages of a list. */
export interface Client extends Operations {
    /**
     * Every item of a list, page by page as they are asked for, newest first. Records that are made or removed meanwhile shift the
     * pages; an item that shows up twice is given once.
     * @param input the filters of the operation; `page` is where to begin, `pageSize` defaults to 100
     */
    each<Name extends ListName>(name: Name, input?: Input<Name>, options?: CallOptions): AsyncGenerator<Item<Name>, void>;
}
/**
 * Makes a client; nothing is sent until a method is called. Its methods throw HookyardError.
 * @throws TypeError when the url is none
 */
export declare function createClient(options: ClientOptions): Client;
