// The page of one record, which the address names: what it is and what can be done with it, and that of its form.
import { Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Input, Name, Output } from '../api/client.ts';
import type { ApiCall } from '../api/curl.ts';
import { useAsk } from '../api/queries.ts';
import { plain } from '../format.ts';
import { CopyMenu } from './CopyMenu.tsx';
import { Loaded } from './Loaded.tsx';
import { Page } from './Page.tsx';

/** Operations that get a record by its id. */
type Gets = {
  [N in Name]: { id: string } extends Input<N> ? (Output<N> extends { id: string } ? N : never) : never;
}[Name];

interface Props<N extends Gets> {
  get: N;
  /** What it is asked besides the id. */
  input?: Partial<Input<N>>;
  /** Asks again every so many ms. */
  every?: number;
  /** While it is not there; then what `titleOf` says. */
  title: string;
  titleOf?: (record: Output<N>) => string;
  /** Beside its id. */
  noteOf?: (record: Output<N>) => string;
  actions?: (record: Output<N>) => ReactNode;
  /** @param again asks again at once */
  children: (record: Output<N>, again: () => void) => ReactNode;
}

export function RecordPage<N extends Gets>({ get, every, title, titleOf, noteOf, actions, ...props }: Props<N>) {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const input = { id, ...props.input } as Input<N>;
  const answer = useAsk(get, input, { every: every ?? false });
  const record = answer.data;
  return (
    <Page
      title={(record && titleOf?.(record)) ?? title}
      actions={
        <>
          {record && actions?.(record)}
          <CopyMenu call={{ name: get, input } as ApiCall} />
        </>
      }
    >
      <Loaded answer={answer}>
        {(one) => (
          <>
            <Text className="anywhere quiet" size="sm">
              {id}
              {noteOf?.(one)}
            </Text>
            {props.children(one, () => void answer.refetch())}
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface EditProps<N extends Gets> {
  get: N;
  /** Until it is there: `Edit a route`. */
  title: string;
  children: (record: Output<N> & { id: string }) => ReactNode;
}

/** The form is to have the id as its key: it begins with what is stored when it is opened. */
export function EditPage<N extends Gets>({ get, title, children }: EditProps<N>) {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const answer = useAsk(get, { id } as Input<N>);
  const record = answer.data as (Output<N> & { id: string; name?: string }) | undefined;
  return (
    <Page title={record?.name === undefined ? title : `Edit ${plain(record.name)}`}>
      <Loaded answer={{ ...answer, data: record }}>{children}</Loaded>
    </Page>
  );
}
