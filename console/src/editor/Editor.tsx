// A field for code or JSON: CodeMirror, loaded when the first one is seen. Tab moves on, so that nobody is caught in
// it.
import { Input } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { plain } from '../format.ts';
import type { EditorHandle } from './edit.ts';

export type Language = 'json' | 'javascript' | 'text';

/** A line with something wrong in it, from 1 on. What it is stands below the editor. */
export interface Mark {
  line: number;
  message: string;
}
const NO_MARKS: Mark[] = [];

interface Props {
  label: string;
  value: string;
  language: Language;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  marks?: readonly Mark[] | undefined;
}

export function Editor({ label, value, language, onChange, readOnly = false, marks = NO_MARKS }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [handle, setHandle] = useState<EditorHandle | null>(null);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  useEffect(() => {
    let isGone = false;
    let made: EditorHandle | null = null;
    void import('./edit.ts').then(({ edit }) => {
      if (isGone || !place.current) return;
      made = edit(place.current, { ...latest.current, label, language, readOnly }, (text) =>
        latest.current.onChange?.(text),
      );
      setHandle(made);
    });
    return () => {
      isGone = true;
      made?.end();
    };
  }, [label, language, readOnly]);
  useEffect(() => handle?.set(value), [handle, value]);
  useEffect(() => handle?.mark(marks), [handle, marks]);
  return (
    <div>
      <Input.Label size="xs" labelElement="div" aria-hidden="true">
        {label}
      </Input.Label>
      <div className="editor box" ref={place} />
      {marks.map(({ line, message }) => (
        <p key={`${line} ${message}`} role="alert" className="small bad anywhere">
          Line {line}: {plain(message)}
        </p>
      ))}
    </div>
  );
}
