import { plain, shortened } from '../format.ts';
import { Table } from './ui.tsx';

const MOST_CHARACTERS = 2000;

/** Headers as a table; values are text of strangers. */
export function Headers({ title, of }: { title: string; of: Record<string, string> | null | undefined }) {
  const rows = Object.entries(of ?? {}).map(([name, value]) => [
    plain(name),
    <bdi key="value">{plain(shortened(value, MOST_CHARACTERS))}</bdi>,
  ]);
  if (rows.length === 0) return <p className="quiet">No {title.toLowerCase()}</p>;
  return <Table title={title} className="table-box table-wrap mono" rows={rows} />;
}
