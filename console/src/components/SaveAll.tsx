// All rows that match, as a CSV file: how many it has so far, and whether there are more than it takes.
import { Button, Group, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Input, Item } from '../api/client.ts';
import { type CursorList, every, MOST } from '../api/every.ts';
import { csvOf } from '../csv.ts';
import { countText, plural } from '../format.ts';
import { save } from '../save.ts';
import type { Column } from './DataTable.tsx';
import { Failed } from './Failed.tsx';

export interface All<N extends CursorList> {
  list: N;
  filters: Partial<Input<N>>;
}

interface Props<N extends CursorList> {
  all: All<N>;
  columns: Column<Item<N>>[];
  onClose: () => void;
}

export function SaveAll<N extends CursorList>({ all, columns, onClose }: Props<N>) {
  const [count, setCount] = useState(0);
  const [end, setEnd] = useState<{ isCut: boolean } | null>(null);
  const [error, setError] = useState<unknown>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it takes what matched when it was opened
  useEffect(() => {
    const stop = new AbortController();
    every(all.list, all.filters, { signal: stop.signal, tell: (so) => !stop.signal.aborted && setCount(so) }).then(
      ({ rows, isCut }) => {
        if (stop.signal.aborted) return;
        save(csvOf(columns, rows), `${all.list.replace('list', '').toLowerCase()}.csv`);
        setEnd({ isCut });
      },
      (problem: unknown) => {
        if (!stop.signal.aborted) setError(problem);
      },
    );
    return () => stop.abort();
  }, []);
  return (
    <Modal opened onClose={onClose} title="Download as CSV">
      <p role="status">
        {end === null ? `${plural(count, 'row')} so far…` : `${plural(count, 'row')} saved, newest first`}
      </p>
      {end?.isCut && (
        <p>More rows match. A file contains at most {countText(MOST)}: narrow the time range or the filters.</p>
      )}
      {error !== null && <Failed error={error} />}
      <Group justify="end" mt="md">
        <Button variant="default" onClick={onClose}>
          {end === null && error === null ? 'Stop' : 'Close'}
        </Button>
      </Group>
    </Modal>
  );
}
