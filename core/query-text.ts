// The text of a query, taken apart without being written anew: what is left of it is what was received, byte by byte.

/** The parts between the ampersands; none of an empty query. */
function partsOf(query: string): string[] {
  return query.split('&').filter((part) => part !== '');
}

/** The names that a part stands for, decoded. Old servers read a semicolon as an ampersand. */
function namesIn(part: string): string[] {
  return [part, ...(part.includes(';') ? part.split(';') : [])].flatMap((text) => [
    ...new URLSearchParams(text).keys(),
  ]);
}

/** A query without a parameter. @param name decoded, exactly as it is compared */
export function withoutParameter(query: string, name: string): string {
  const isIt = (part: string) => new URLSearchParams(part).has(name);
  return partsOf(query)
    .filter((part) => !isIt(part))
    .join('&');
}

/**
 * A name in the one spelling of all that a server may read as the same: PHP puts underscores for dots and spaces and makes lists of
 * `name[]`, ASP.NET ignores case.
 */
function foldedParameter(name: string): string {
  return name
    .trim()
    .replace(/(?<=.)\[[^\]]*\].*$/s, '')
    .replace(/[. []/g, '_')
    .toLowerCase();
}

/** Two queries in one. Of a parameter that the first one has, in whatever spelling, the second adds nothing. */
export function mergedQuery(own: string, added: string): string {
  const taken = new Set(partsOf(own).flatMap(namesIn).map(foldedParameter));
  const isTaken = (part: string) => namesIn(part).some((name) => taken.has(foldedParameter(name)));
  const others = partsOf(added).filter((part) => !isTaken(part));
  return [...(own === '' ? [] : [own]), ...others].join('&');
}
