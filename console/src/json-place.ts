// Where in a JSON text something is: the line of what a JSON pointer (RFC 6901) leads to.

/** The line, from 1 on; of the innermost thing that is there. The text is JSON. */
export function lineOfPointer(text: string, pointer: string): number {
  let at = skipSpace(text, 0);
  for (const part of pointer.split('/').slice(1)) {
    const next = memberAt(text, at, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === null) break;
    at = next;
  }
  return text.slice(0, at).split('\n').length;
}

/** Where the member of the object or array at `at` begins. */
function memberAt(text: string, at: number, name: string): number | null {
  const isObject = text[at] === '{';
  if (!isObject && text[at] !== '[') return null;
  let position = skipSpace(text, at + 1);
  for (let index = 0; position < text.length && !'}]'.includes(text[position] ?? ''); index += 1) {
    let key = String(index);
    if (isObject) {
      const end = endOfString(text, position);
      key = JSON.parse(text.slice(position, end)) as string;
      position = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (key === name) return position;
    position = skipSpace(text, endOfValue(text, position));
    if (text[position] === ',') position = skipSpace(text, position + 1);
  }
  return null;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1;
  return at;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, from: number): number {
  let at = from;
  for (let depth = 0; at < text.length; ) {
    const character = text[at] ?? '';
    if (depth === 0 && at > from && ',]} \t\r\n'.includes(character)) return at;
    if (character === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if ('{['.includes(character)) depth += 1;
    if ('}]'.includes(character)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    at += 1;
  }
  return at;
}
