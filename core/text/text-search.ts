// Whether a text is part of another one, in linear time whatever the two hold.

// The engine's own search is much faster on ordinary texts, but takes time as of length times length on texts made for
// it.
const ENGINE_WORK = 4_000_000;

export function includesText(text: string, part: string): boolean {
  if (text.length * part.length <= ENGINE_WORK) return text.includes(part);
  return part.length <= text.length && found(text, part);
}

/** @param part not empty. Knuth, Morris and Pratt: Fast Pattern Matching in Strings, 1977. */
function found(text: string, part: string): boolean {
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each prefix the length of the longest shorter prefix that it ends with. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    while (length > 0 && part.charCodeAt(length) !== part.charCodeAt(at)) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === part.charCodeAt(at)) length += 1;
    borders[at] = length;
  }
  return borders;
}
