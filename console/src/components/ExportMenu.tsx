// Takes what is shown along: the rows as CSV, all that match as a CSV file, or the API call behind them as a curl
// command.
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { CodeIcon, DownloadIcon } from './icons.tsx';
import type { ListName } from '@hookyard/client';
import { useCaller } from '../api/caller.tsx';
import { type Input, type Item, told } from '../api/client.ts';
import { type ApiCall, curlOf } from '../api/curl.ts';
import { gather } from '../api/lists.ts';
import { csvOf, save } from '../csv.ts';
import { countText, plural } from '../format.ts';
import type { Column } from './DataTable.tsx';
import { copy, IconButton } from './ui.tsx';

const MOST = 10_000;

interface Props<Row> {
  call: ApiCall;
  columns?: Column<Row>[];
  rows?: Row[];
  /** Of a list by cursor: saves all that match. */
  onSaveAll?: (() => Promise<void>) | undefined;
  /** Its name is shown: at the head of a page. */
  isLabelled?: boolean;
}

export function ExportMenu<Row>({ call, columns, rows, onSaveAll, isLabelled = false }: Props<Row>) {
  const { organization } = useCaller();
  const copyCall = () => void copy(curlOf(call, organization.id), 'Command');
  if (!columns)
    return (
      <IconButton label="Copy as curl" onClick={copyCall}>
        <CodeIcon />
      </IconButton>
    );
  return (
    <Menu>
      <Menu.Target>
        {isLabelled ? (
          <Button variant="default" leftSection={<DownloadIcon />}>
            Export
          </Button>
        ) : (
          <IconButton label="Export">
            <DownloadIcon />
          </IconButton>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        {rows && (
          <Menu.Item onClick={() => void copy(csvOf(columns, rows), plural(rows.length, 'row'))}>
            Copy rows as CSV
          </Menu.Item>
        )}
        {onSaveAll && (
          <Menu.Item onClick={() => void onSaveAll()}>Download all as CSV (up to {countText(MOST)} rows)</Menu.Item>
        )}
        <Menu.Item onClick={copyCall}>Copy as curl</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Saves all rows that match as a CSV file, and says how far it is. */
export async function saveAll<N extends ListName>(
  list: N,
  filters: Partial<Input<N>>,
  columns: Column<Item<N>>[],
): Promise<void> {
  const name = list.replace('list', '').toLowerCase();
  const tell = (message: string) => notifications.update({ id: list, message });
  notifications.show({ id: list, message: 'Loading rows…', autoClose: false, loading: true });
  try {
    const { records, isCut } = await gather(list, filters, MOST, {
      tell: (count) => tell(`${plural(count, 'row')} so far…`),
    });
    save(csvOf(columns, records), `${name}.csv`);
    const more = isCut ? '. To save the rest, use an earlier time range or narrower filters.' : '';
    notifications.update({
      ...{ id: list, loading: false, autoClose: isCut ? false : 4000 },
      message: `${plural(records.length, 'row')} saved, newest first${more}`,
    });
  } catch (error) {
    notifications.update({ id: list, loading: false, color: 'red', message: told(error).message });
  }
}
