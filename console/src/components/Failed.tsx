// An answer of the API on a page: it loads, it failed, or it is there. A failure never looks like "nothing found".
import { Button, Code, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { told } from '../api/client.ts';
import { plain } from '../format.ts';
import { Callout } from './ui.tsx';

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const { title, message, requestId } = told(error);
  return (
    <Callout tone="bad" title={title} role="alert">
      <p>{plain(message)}</p>
      <div className="row">
        {again && (
          <Button variant="default" mt={4} onClick={again}>
            Try again
          </Button>
        )}
        {requestId !== null && (
          <span className="small quiet">
            Request ID <Code>{requestId}</Code>
          </span>
        )}
      </div>
    </Callout>
  );
}

interface Props<Data> {
  answer: { data: Data | undefined; error: unknown; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}

/** What is there stays when asking again fails. */
export function Loaded<Data>({ answer, children }: Props<Data>) {
  const { data, error, refetch } = answer;
  return (
    <>
      {error !== null && <Failed error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && children(data)}
    </>
  );
}

/** Grey lines in the place of what is not there yet. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div className="stack" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <Skeleton key={line} height={16} width={`${90 - 15 * (line % 4)}%`} />
      ))}
    </div>
  );
}
