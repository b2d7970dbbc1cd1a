// Finds the parts of a JSON text in one pass, without recursion and without making values: numbers stay as they were
// written, and neither depth nor size can exhaust the stack.

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

/** What a number or a word ends before. */
const ENDS = new Set([' ', '\n', '\r', '\t', ',', ']', '}', undefined]);

/** Behind the quote that ends a string. */
export function stringEnd(text: string, start: number): number {
  let at = start;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
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
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const found = new Growing();
  const open: number[] = [];
  let key = 0;
  /** The next string is a key. */
  let isKey = false;
  const add = (kind: number, start: number, end: number) => {
    count(found.nodes, open);
    const index = found.add(kind, start, end, open.length, key);
    key = 0;
    return index;
  };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at] ?? '';
    if (mark === '{' || mark === '[') {
      open.push(add(mark === '{' ? object : array, at, at + 1));
      isKey = mark === '{';
    } else if (mark === '}' || mark === ']') {
      const closed = open.pop() ?? 0;
      found.nodes.end[closed] = at + 1;
      found.nodes.next[closed] = found.nodes.count;
    } else if (mark === ',') {
      isKey = found.nodes.kind[open.at(-1) ?? 0] === object;
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
  return found.nodes;
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
