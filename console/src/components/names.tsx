// Names of records for their ids, from the lists; a record that was deleted, or is beyond the first hundred, shows its id.
import { useAsk } from '../api/queries.ts';
import { plain } from '../format.ts';

export function useNames(
  list: 'listSources' | 'listDestinations' | 'listRoutes',
): (id: string | null | undefined) => string {
  const { data } = useAsk(list, { pageSize: 100 });
  const names = new Map(((data?.data ?? []) as { id: string; name: string }[]).map(({ id, name }) => [id, name]));
  return (id) => (id ? plain(names.get(id) ?? id) : '-');
}
