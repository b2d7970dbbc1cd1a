// All rows that match, as a CSV file: how many it has so far, and whether there are more than it takes.
import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Input, Item } from '../api/client.ts';
import { type CursorList, every, MOST } from '../api/every.ts';
import { csvOf } from '../csv.ts';
import { countText } from '../format.ts';
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
    <Modal opened onClose={onClose} title="All that match, as CSV">
      <Text role="status">
        {end === null
          ? `${countText(count)} so far…`
          : `Saved: ${countText(count)} ${count === 1 ? 'row' : 'rows'}, the newest first.`}
      </Text>
      {end?.isCut && (
        <Text mt="xs">
          There are more: a file has at most {countText(MOST)}. Choose a shorter time, or more filters, for the others.
        </Text>
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
