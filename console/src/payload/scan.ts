// Finds the parts of a JSON text in one pass, without recursion and without making values: numbers stay as they were
// written, and neither depth nor size can exhaust the stack. Where something is in such a text.

export const KIND = { object: 0, array: 1, string: 2, number: 3, word: 4 } as const;
const { object, array, word } = KIND;

/** The nodes of a text in their order, a column each; `next` is the first node behind a subtree. */
export interface Nodes {
  kind: number[];
  /** Where the value begins and ends in the text. */
  start: number[];
  end: number[];
  depth: number[];
  next: number[];
  /** Where the key begins, its quote; 0: it has none. Its end is found by reading it. */
  key: number[];
  /** Members of an object or array. */
  size: number[];
}

/** What a number or a word ends before. */
const ENDS = new Set([' ', '\n', '\r', '\t', ',', ']', '}', undefined]);

/** Behind the quote that ends a string. */
export function stringEnd(text: string, start: number): number {
  let at = start;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** @returns undefined for what is no JSON */
export function scan(text: string): Nodes | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const nodes: Nodes = { kind: [], start: [], end: [], depth: [], next: [], key: [], size: [] };
  const open: number[] = [];
  let key = 0;
  /** The next string is a key. */
  let isKey = false;
  const add = (kind: number, start: number, end: number) => {
    const parent = open.at(-1);
    if (parent !== undefined) nodes.size[parent] = (nodes.size[parent] ?? 0) + 1;
    nodes.kind.push(kind);
    nodes.start.push(start);
    nodes.end.push(end);
    nodes.depth.push(open.length);
    nodes.key.push(key);
    nodes.size.push(0);
    key = 0;
    return nodes.next.push(nodes.next.length + 1) - 1;
  };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at] ?? '';
    if (mark === '{' || mark === '[') {
      open.push(add(mark === '{' ? object : array, at, at + 1));
      isKey = mark === '{';
    } else if (mark === '}' || mark === ']') {
      const closed = open.pop() ?? 0;
      nodes.end[closed] = at + 1;
      nodes.next[closed] = nodes.next.length;
    } else if (mark === ',') {
      isKey = nodes.kind[open.at(-1) ?? 0] === object;
    } else if (mark === ':') {
      isKey = false;
    } else if (mark === '"') {
      const end = stringEnd(text, at + 1);
      if (isKey) key = at + 1;
      else add(KIND.string, at, end);
      at = end - 1;
    } else if (!ENDS.has(mark)) {
      let end = at;
      while (!ENDS.has(text[end])) end++;
      add(/[-\d]/.test(mark) ? KIND.number : word, at, end);
      at = end - 1;
    }
  }
  return nodes;
}

/**
 * The nodes that are seen: all but those inside closed ones.
 * @param most no more than these
 */
export function seenNodes(nodes: Nodes, isOpen: (index: number) => boolean, most: number): number[] {
  const seen: number[] = [];
  for (let index = 0; index < nodes.kind.length && seen.length < most; ) {
    seen.push(index);
    index = (nodes.kind[index] ?? word) <= array && isOpen(index) ? index + 1 : (nodes.next[index] ?? index + 1);
  }
  return seen;
}

/** The line of what a JSON pointer (RFC 6901) leads to, from 1 on; of the innermost thing that is there. */
export function lineOfPointer(text: string, pointer: string): number {
  const nodes = scan(text);
  let at = 0;
  for (const part of nodes ? pointer.split('/').slice(1) : []) {
    const next = nodes && memberAt(text, nodes, at, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === undefined) break;
    at = next;
  }
  return text.slice(0, nodes?.start[at]).split('\n').length;
}

/** The node of a member of an object or array. */
function memberAt(text: string, nodes: Nodes, parent: number, name: string): number | undefined {
  const end = nodes.next[parent] ?? 0;
  let place = 0;
  for (let at = parent + 1; at < end; at = nodes.next[at] ?? end, place += 1) {
    const key = nodes.kind[parent] === KIND.object ? keyAt(text, nodes.key[at] ?? 0) : String(place);
    if (key === name) return at;
  }
  return undefined;
}

/** A key, which begins behind its quote. */
const keyAt = (text: string, start: number) => JSON.parse(text.slice(start - 1, stringEnd(text, start))) as string;
