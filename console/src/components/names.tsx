// Names of records for their ids, from the lists; a record that was deleted shows its id.
import type { ReactNode } from 'react';
import { useAll } from '../api/lists.ts';
import { told } from '../api/errors.ts';
import { plain } from '../format.ts';

interface Names {
  nameOf: (id: string | null | undefined) => string;
  /** Shown beside the names: they could not be loaded. */
  problem: ReactNode;
}

export function useNames(list: 'listSources' | 'listDestinations' | 'listRoutes', enabled = true): Names {
  const { data, error } = useAll(list, enabled);
  const records = (data?.records ?? []) as { id: string; name: string }[];
  const names = new Map(records.map(({ id, name }) => [id, name]));
  return {
    nameOf: (id) => (id ? plain(names.get(id) ?? id) : '–'),
    problem: error && (
      <p role="alert" className="bad anywhere">
        Names could not be loaded: {plain(told(error).message)}
      </p>
    ),
  };
}
