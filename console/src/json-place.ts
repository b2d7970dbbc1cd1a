// Where in a JSON text something is: the line of what a JSON pointer (RFC 6901) leads to.
import { KIND, type Nodes, scan, stringEnd } from './payload/JsonTree.tsx';

/** The line, from 1 on; of the innermost thing that is there. */
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
