// JSON as a tree. Closed at first from the third level on; what lies very deep is opened level by level, and indented
// no further.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef, useMemo, useState } from 'react';
import { toggled } from '../components/DataTable.tsx';
import { ChevronDownIcon, ChevronRightIcon } from '../components/icons.tsx';
import { plain, plural, shortened } from '../format.ts';
import { KIND, type Nodes, seenNodes, stringEnd } from './scan.ts';

// Very many lines, of which only those in sight are in the page. Long ones are wrapped.

/** Browsers cannot scroll through more pixels than about 16 million. */
const MOST_LINES = 800_000;
/** Of a line that is not wrapped. */
const LINE_PX = 20;
const MOST_PX = 600;
const LEAST_LINES = 3;
/** Above the first and below the last line, as in console.css. */
const PADDING_PX = 6;

export function Lines({ label, count, line }: { label: string; count: number; line: (index: number) => ReactNode }) {
  const scroller = useRef<HTMLDivElement>(null);
  const shown = Math.min(count, MOST_LINES);
  const virtual = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 12,
  });
  const height = Math.min(MOST_PX, Math.max(LEAST_LINES * LINE_PX, virtual.getTotalSize()) + 2 * PADDING_PX);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too */}
      <section className="lines" ref={scroller} tabIndex={0} aria-label={label} style={{ height }} data-lines={count}>
        <div style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="line verbatim"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {line(item.index)}
            </div>
          ))}
        </div>
      </section>
      {count > shown && (
        <p className="small quiet">
          Showing the first {shown.toLocaleString('en-US')} lines. Download the file to see the rest.
        </p>
      )}
    </>
  );
}

const OPEN_LEVELS = 2;
const OPEN_MEMBERS = 200;
const MOST_INDENT = 40;
const INDENT_PX = 14;
/** What is left for text where much is indented. */
const LEAST_TEXT_PX = 240;
const MOST_CHARACTERS = 500;
const NAMES = ['object', 'array', 'string', 'number', 'word'] as const;

interface Props {
  title: string;
  text: string;
  nodes: Nodes;
}

export function JsonTree({ title, text, nodes }: Props) {
  const [turned, setTurned] = useState<ReadonlySet<number>>(new Set());
  const isOpen = (index: number): boolean => openAtFirst(nodes, index) !== turned.has(index);
  // biome-ignore lint/correctness/useExhaustiveDependencies: isOpen is made of nodes and turned
  const seen = useMemo(() => seenNodes(nodes, isOpen, MOST_LINES + 1), [nodes, turned]);
  const turn = (index: number) => setTurned((before) => toggled(before, index));
  return (
    <Lines
      label={`${title} as a tree`}
      count={seen.length}
      line={(line) => <Node text={text} nodes={nodes} index={seen[line] ?? 0} isOpen={isOpen} turn={turn} />}
    />
  );
}

function openAtFirst({ depth, size }: Nodes, index: number): boolean {
  return (depth[index] ?? 0) < OPEN_LEVELS && (size[index] ?? 0) <= OPEN_MEMBERS;
}

interface NodeProps {
  text: string;
  nodes: Nodes;
  index: number;
  isOpen: (index: number) => boolean;
  turn: (index: number) => void;
}

function Node({ text, nodes, index, isOpen, turn }: NodeProps) {
  const kind = nodes.kind[index] ?? KIND.word;
  const depth = nodes.depth[index] ?? 0;
  const key = nodes.key[index] ?? 0;
  const isGroup = kind <= KIND.array;
  const size = nodes.size[index] ?? 0;
  const opened = isGroup && size > 0 && isOpen(index);
  const name = key > 0 ? plain(shortened(text.slice(key, stringEnd(text, key) - 1), MOST_CHARACTERS)) : null;
  const indent = Math.min(depth, MOST_INDENT) * INDENT_PX;
  return (
    <div style={{ paddingLeft: indent, minWidth: indent + LEAST_TEXT_PX }}>
      {isGroup && size > 0 ? (
        <button
          type="button"
          aria-expanded={opened}
          aria-label={`${name ?? (kind === KIND.object ? 'Fields' : 'Items')}, level ${depth + 1}`}
          onClick={() => turn(index)}
        >
          {opened ? <ChevronDownIcon width={12} /> : <ChevronRightIcon width={12} />}
        </button>
      ) : (
        <span style={{ paddingLeft: 16 }} />
      )}
      {depth > MOST_INDENT && <span className="quiet">level {depth} </span>}
      {name !== null && (
        <>
          <bdi className="j-key">{name}</bdi>:{' '}
        </>
      )}
      {isGroup ? (
        <span className="quiet">
          {kind === KIND.object ? '{' : '['}
          {size > 0 && `${opened ? '' : '…'} ${plural(size, kind === KIND.object ? 'field' : 'item')}`}
          {kind === KIND.object ? ' }' : ' ]'}
        </span>
      ) : (
        <bdi className={`j-${NAMES[kind]}`}>
          {plain(shortened(text.slice(nodes.start[index], nodes.end[index]), MOST_CHARACTERS))}
        </bdi>
      )}
    </div>
  );
}
