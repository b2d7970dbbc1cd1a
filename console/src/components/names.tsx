// Names of records for their ids, from the lists; a record that was deleted shows its id.
import type { ListName } from '@hookyard/client';
import type { ReactNode } from 'react';
import { useAll } from '../api/lists.ts';
import { told } from '../api/client.ts';
import { plain } from '../format.ts';
import { Name } from './ui.tsx';

interface Found {
  nameOf: (id: string | null | undefined) => string;
  /** Shown beside the names: they could not be loaded. */
  problem: ReactNode;
}

export function useNames(list: ListName, enabled = true): Found {
  const { data, error } = useAll(list, enabled);
  const records = (data?.records ?? []) as unknown as { id: string; name: string }[];
  const names = new Map(records.map(({ id, name }) => [id, name]));
  return {
    nameOf: (id) => (id ? plain(names.get(id) ?? id) : '–'),
    problem: error && (
      <p role="alert" className="bad anywhere">
        Could not load names: {plain(told(error).message)}
      </p>
    ),
  };
}

/** Records by their names, with links. */
export function Names({ list, ids }: { list: ListName; ids: string[] }) {
  const { nameOf, problem } = useNames(list);
  return (
    <span className="row">
      {problem}
      {ids.map((id) => (
        <Name key={id} id={id} name={nameOf(id)} />
      ))}
    </span>
  );
}
