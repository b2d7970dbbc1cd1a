// A field for code or JSON: CodeMirror, loaded when the first one is seen. Tab moves on, so that nobody is caught in it.
import { Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';

export type Language = 'json' | 'javascript' | 'text';

interface Props {
  label: string;
  value: string;
  language: Language;
  onChange?: (value: string) => void;
  readOnly?: boolean;
}

export function Editor({ label, value, language, onChange, readOnly = false }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [handle, setHandle] = useState<{ set: (text: string) => void; end: () => void } | null>(null);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  useEffect(() => {
    let isGone = false;
    let made: { set: (text: string) => void; end: () => void } | null = null;
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
  return (
    <div>
      <Text size="sm" fw={500} aria-hidden="true">
        {label}
      </Text>
      <div className="editor" ref={place} />
    </div>
  );
}
