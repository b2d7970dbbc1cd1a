// The client of the management API: a method per operation of docs/openapi.json, typed by it. Needs nothing but fetch.
import { operations } from './api.js';
import { send } from './http.js';
export { HookyardError } from './errors.js';
/**
 * Makes a client; nothing is sent until a method is called. Its methods throw HookyardError.
 * @throws TypeError when the url is none
 */
export function createClient(options) {
    const settings = {
        url: baseOf(options.url),
        apiKey: options.apiKey,
        timeoutMs: options.timeoutMs ?? 30_000,
        maxRetries: options.maxRetries ?? 4,
        maxWaitMs: options.maxWaitMs ?? 60_000,
        userAgent: options.userAgent,
        fetch: options.fetch ?? ((...args) => fetch(...args)),
        onIgnored: options.onIgnored,
        parseJson: options.parseJson ?? ((text) => JSON.parse(text)),
    };
    let organization;
    /** The organization of the key, asked for once; a failed question is asked again. */
    function organizationId(callOptions) {
        organization ??= client.getCaller({}, callOptions).then(({ organization: { id } }) => id);
        organization.catch(() => {
            organization = undefined;
        });
        return organization;
    }
    async function call(name, input = {}, callOptions) {
        const { body, ...parameters } = input;
        const [method = '', template = ''] = operations[name].split(' ');
        if (template.includes('{orgId}'))
            parameters.orgId ??= await organizationId(callOptions);
        return send(settings, { method, path: pathOf(template, parameters), body }, callOptions);
    }
    const methods = Object.keys(operations).map((name) => [
        name,
        (input, callOptions) => call(name, input, callOptions),
    ]);
    const client = { ...Object.fromEntries(methods), each };
    async function* each(name, input = {}, callOptions) {
        let before = new Set();
        const filters = { pageSize: 100, ...input };
        for (let page = Number(filters.page ?? 1);; page++) {
            const { data, pagination } = (await call(name, { ...filters, page }, callOptions));
            for (const item of data)
                if (!before.has(item.id))
                    yield item;
            if (data.length === 0 || page * pagination.pageSize >= pagination.total)
                return;
            before = new Set(data.map(({ id }) => id));
        }
    }
    return client;
}
function baseOf(url) {
    const { protocol, origin, pathname } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:')
        throw new TypeError(`"${url}" does not start with http:// or https://`);
    return origin + pathname.replace(/\/+$/, '');
}
/** Fills the path; what is left of the parameters is the query. @throws TypeError when the path needs one that is not given */
function pathOf(template, parameters) {
    const rest = new Map(Object.entries(parameters));
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => {
        const value = rest.get(name);
        if (typeof value !== 'string' || value === '')
            throw new TypeError(`${name} must be a text that is not empty`);
        rest.delete(name);
        return encodeURIComponent(value);
    });
    const query = new URLSearchParams();
    for (const [name, value] of rest)
        if (value !== undefined && value !== null)
            query.set(name, String(value));
    return query.size === 0 ? path : `${path}?${query}`;
}
