const ITEM = /"([^"]*)";in=(query|body)(?:;nearest="([^"]*)")?/g;
/** Reads the header `X-Ignored`; null when there is none, or nothing in it that is understood. */
export function readIgnored(request, header) {
    if (header === null)
        return null;
    const names = [...header.matchAll(ITEM)].map(([, name = '', place, nearest]) => ({
        name: decoded(name),
        in: place,
        nearest: nearest === undefined ? null : decoded(nearest),
    }));
    return names.length === 0 ? null : { request, names, more: Number(/more;count=(\d+)$/.exec(header)?.[1] ?? 0) };
}
function decoded(name) {
    try {
        return decodeURIComponent(name);
    }
    catch {
        return name;
    }
}
