// Finds the parts of a JSON text in one pass, without recursion and without making values: numbers stay as they were
// written, and neither depth nor size can exhaust the stack. The text has been checked when `scan` returns.

export const KIND = { object: 0, array: 1, string: 2, number: 3, word: 4 } as const;
const { object, array, word } = KIND;

/** The nodes of a text in their order; `next` is the first node behind a subtree. */
export interface Nodes {
  count: number;
  kind: Uint8Array;
  /** Where the value begins and ends in the text. */
  start: Uint32Array;
  end: Uint32Array;
  depth: Uint32Array;
  next: Uint32Array;
  /** Where the key begins, its quote; 0: it has none. Its end is found by reading it. */
  key: Uint32Array;
  /** Members of an object or array. */
  size: Uint32Array;
}

type Token = { kind: '{' | '}' | '[' | ']' | ':' | ',' | 'string' | 'number' | 'word'; start: number; end: number };
const WORDS = ['true', 'false', 'null'];
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_PART = new Set('+-.eE0123456789');
const MARKS = new Set('{}[]:,');

// By hand: regular expressions over a text of 10 MiB exhaust their stack.
/** @returns null at the end, undefined for what is no token */
function tokenAt(text: string, from: number): Token | null | undefined {
  let start = from;
  while (isSpace(text.charCodeAt(start))) start++;
  const first = text[start];
  if (first === undefined) return null;
  if (MARKS.has(first)) return { kind: first as ',', start, end: start + 1 };
  if (first === '"') {
    const end = stringEnd(text, start + 1);
    return end === undefined ? undefined : { kind: 'string', start, end };
  }
  const found = WORDS.find((each) => text.startsWith(each, start));
  if (found) return { kind: 'word', start, end: start + found.length };
  let end = start;
  while (NUMBER_PART.has(text[end] ?? '')) end++;
  return NUMBER.test(text.slice(start, Math.min(end, start + 1000))) ? { kind: 'number', start, end } : undefined;
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

function stringEnd(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code === 92) at++;
    else if (code < 32) return undefined;
  }
  return undefined;
}

class Growing {
  nodes: Nodes = { count: 0, ...arrays(1024) };
  add(kind: number, start: number, end: number, depth: number, key: number): number {
    const nodes = this.nodes;
    const index = nodes.count;
    if (index === nodes.kind.length) this.grow();
    const at = this.nodes;
    at.kind[index] = kind;
    at.start[index] = start;
    at.end[index] = end;
    at.depth[index] = depth;
    at.next[index] = index + 1;
    at.key[index] = key;
    at.count = index + 1;
    return index;
  }
  grow(): void {
    const old = this.nodes;
    const next = { count: old.count, ...arrays(old.kind.length * 2) };
    for (const name of ['kind', 'start', 'end', 'depth', 'next', 'key', 'size'] as const) next[name].set(old[name]);
    this.nodes = next;
  }
}

function arrays(length: number): Omit<Nodes, 'count'> {
  const numbers = () => new Uint32Array(length);
  return {
    kind: new Uint8Array(length),
    start: numbers(),
    end: numbers(),
    depth: numbers(),
    next: numbers(),
    key: numbers(),
    size: numbers(),
  };
}

/** @returns undefined for what is no JSON */
export function scan(text: string): Nodes | undefined {
  const found = new Growing();
  const open: number[] = [];
  let key = 0;
  /** What may come: a value, a key, a comma or end, or (right after an opening) the end too. */
  let wanted: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'after' = 'value';
  let at = 0;
  for (;;) {
    const token = tokenAt(text, at);
    if (token === undefined) return undefined;
    if (token === null) return open.length === 0 && wanted === 'after' ? found.nodes : undefined;
    const { kind: mark, start, end } = token;
    at = end;
    if (mark === 'string' || mark === 'number' || mark === 'word') {
      if (wanted === 'key' || wanted === 'firstKey') {
        if (mark !== 'string') return undefined;
        key = start + 1;
        wanted = 'colon';
      } else if (wanted === 'value' || wanted === 'first') {
        count(found.nodes, open);
        found.add(KIND[mark], start, end, open.length, key);
        key = 0;
        wanted = 'after';
      } else return undefined;
    } else if (mark === '{' || mark === '[') {
      if (wanted !== 'value' && wanted !== 'first') return undefined;
      count(found.nodes, open);
      open.push(found.add(mark === '{' ? object : array, end - 1, end, open.length, key));
      key = 0;
      wanted = mark === '{' ? 'firstKey' : 'first';
    } else if (mark === '}' || mark === ']') {
      const closed = open.pop();
      const nodes = found.nodes;
      if (closed === undefined || nodes.kind[closed] !== (mark === '}' ? object : array)) return undefined;
      if (wanted !== 'after' && wanted !== (mark === '}' ? 'firstKey' : 'first')) return undefined;
      nodes.end[closed] = end;
      nodes.next[closed] = nodes.count;
      wanted = 'after';
    } else if (mark === ':') {
      if (wanted !== 'colon') return undefined;
      wanted = 'value';
    } else {
      const parent = open.at(-1);
      if (wanted !== 'after' || parent === undefined) return undefined;
      wanted = found.nodes.kind[parent] === object ? 'key' : 'value';
    }
  }
}

function count(nodes: Nodes, open: number[]): void {
  const parent = open.at(-1);
  if (parent !== undefined) nodes.size[parent] = (nodes.size[parent] ?? 0) + 1;
}

/**
 * The nodes that are seen: all but those inside closed ones.
 * @param most no more than these
 */
export function seenNodes(nodes: Nodes, isOpen: (index: number) => boolean, most: number): Uint32Array {
  const seen = new Uint32Array(Math.min(nodes.count, most));
  let length = 0;
  for (let index = 0; index < nodes.count && length < most; ) {
    seen[length++] = index;
    index = (nodes.kind[index] ?? word) <= array && isOpen(index) ? index + 1 : (nodes.next[index] ?? index + 1);
  }
  return seen.subarray(0, length);
}
