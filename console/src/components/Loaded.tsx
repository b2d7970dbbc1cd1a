// An answer of the API on a page: it loads, it failed, or it is there. What is there stays when asking again fails.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failed } from './Failed.tsx';

interface Props<Data> {
  answer: { data: Data | undefined; error: unknown; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ answer, children }: Props<Data>) {
  const { data, error, refetch } = answer;
  return (
    <>
      {error !== null && <Failed error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <Text role="status">Loading…</Text>}
      {data !== undefined && children(data)}
    </>
  );
}
