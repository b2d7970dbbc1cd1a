// A payload as a tree, as text or as bytes. Nothing of it becomes a part of the page: it is always text, in lines.
import { SegmentedControl, Stack } from '@mantine/core';
import { CopyIcon, DownloadIcon } from '../components/icons.tsx';
import { useMemo, useState } from 'react';
import { copy, IconButton } from '../components/ui.tsx';
import { plain, sentence, sizeText } from '../format.ts';
import { save } from '../csv.ts';
import { JsonTree, Lines } from './JsonTree.tsx';
import { scan } from './scan.ts';

type View = 'tree' | 'raw' | 'hex';
/** Longer lines are cut, so that what is far out of sight is not in the page. */
const CHARACTERS_A_LINE = 500;
const BYTES_A_LINE = 16;

interface Props {
  bytes: Uint8Array;
  /** Of the file when it is saved. */
  name: string;
  /** What it is on its page. */
  title?: string;
}

export function Payload({ bytes, name, title = 'Payload' }: Props) {
  const text = useMemo(() => decoded(bytes), [bytes]);
  const nodes = useMemo(() => (text === null ? undefined : scan(text)), [text]);
  const [chosen, setChosen] = useState<View | null>(null);
  const view = chosen ?? (nodes ? 'tree' : text === null ? 'hex' : 'raw');
  const views = [...(nodes ? ['tree'] : []), ...(text === null ? [] : ['raw']), 'hex'];
  return (
    <Stack gap="xs">
      <div className="row row-between">
        <SegmentedControl
          aria-label={`${title} view`}
          value={view}
          onChange={(value) => setChosen(value as View)}
          data={views.map((each) => ({ value: each, label: sentence(each) }))}
        />
        <div className="row">
          <span className="small quiet">
            {sizeText(bytes.length)}
            {text === null ? ', binary' : nodes ? ', JSON' : ', text'}
          </span>
          {text !== null && (
            <IconButton label={`Copy ${title.toLowerCase()}`} onClick={() => void copy(text, title)}>
              <CopyIcon />
            </IconButton>
          )}
          <IconButton label={`Download ${title.toLowerCase()}`} onClick={() => save(bytes as BlobPart, name)}>
            <DownloadIcon />
          </IconButton>
        </div>
      </div>
      {view === 'tree' && nodes && text !== null && <JsonTree title={title} text={text} nodes={nodes} />}
      {view === 'raw' && text !== null && <Raw title={title} text={text} />}
      {view === 'hex' && <Hex title={title} bytes={bytes} />}
    </Stack>
  );
}

function Raw({ title, text }: { title: string; text: string }) {
  const starts = useMemo(() => lineStarts(text), [text]);
  return (
    <Lines
      label={`${title} as text`}
      count={starts.length}
      line={(index) => <bdi>{plain(text.slice(starts[index], starts[index + 1]).replace(/\r?\n$/, ''))}</bdi>}
    />
  );
}

/** Where lines begin; a very long one is cut into several, after a space or a comma where it has one. */
function lineStarts(text: string): number[] {
  const starts: number[] = [];
  for (let start = 0; start < text.length; ) {
    starts.push(start);
    const end = text.indexOf('\n', start);
    const next = end === -1 ? text.length : end + 1;
    if (next - start <= CHARACTERS_A_LINE) {
      start = next;
      continue;
    }
    const part = text.slice(start, start + CHARACTERS_A_LINE);
    start += Math.max(part.lastIndexOf(' '), part.lastIndexOf(',')) + 1 || part.length;
  }
  return starts;
}

function Hex({ title, bytes }: { title: string; bytes: Uint8Array }) {
  const line = (index: number) => {
    const part = bytes.subarray(index * BYTES_A_LINE, (index + 1) * BYTES_A_LINE);
    const address = (index * BYTES_A_LINE).toString(16).padStart(8, '0');
    const codes = Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = Array.from(part, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    return <span style={{ whiteSpace: 'pre' }}>{`${address}  ${codes.padEnd(BYTES_A_LINE * 3)} ${letters}`}</span>;
  };
  return <Lines label={`${title} as bytes`} count={Math.ceil(bytes.length / BYTES_A_LINE)} line={line} />;
}

/** Null for what is no UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A body that came as text, or in base64. */
export function bytesOf(body: string, encoding?: 'base64'): Uint8Array {
  if (encoding !== 'base64') return new TextEncoder().encode(body);
  return Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
}
