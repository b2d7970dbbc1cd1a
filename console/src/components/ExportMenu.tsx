// Takes what is shown along: the rows as CSV, all that match as a CSV file, or the API call behind them as a curl
// command.
import { ActionIcon, Menu } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { lazy, Suspense, useState } from 'react';
import { useCaller } from '../api/caller.tsx';
import type { Item } from '../api/client.ts';
import { type ApiCall, curlOf } from '../api/curl.ts';
import { type CursorList, MOST } from '../api/every.ts';
import { csvOf } from '../csv.ts';
import { countText, plural } from '../format.ts';
import type { Column } from './DataTable.tsx';
import type { All } from './SaveAll.tsx';
import { copy } from './ui.tsx';

const SaveAll = lazy(async () => ({ default: (await import('./SaveAll.tsx')).SaveAll }));

interface Props<Row, N extends CursorList> {
  call: ApiCall;
  columns?: Column<Row>[];
  rows?: Row[];
  /** Of a list that continues: what all rows match. */
  all?: All<N> | undefined;
}

export function ExportMenu<Row, N extends CursorList = CursorList>({ call, columns, rows, all }: Props<Row, N>) {
  const { organization } = useCaller();
  const [isSaving, setSaving] = useState(false);
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="Export">
            <DownloadIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {columns && rows && (
            <Menu.Item onClick={() => void copy(csvOf(columns, rows), plural(rows.length, 'row'))}>
              Copy rows as CSV
            </Menu.Item>
          )}
          {columns && all && (
            <Menu.Item onClick={() => setSaving(true)}>Download all as CSV (up to {countText(MOST)})</Menu.Item>
          )}
          <Menu.Item onClick={() => void copy(curlOf(call, organization.id), 'Command')}>Copy as curl</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving && columns && all && (
        <Suspense fallback={null}>
          <SaveAll
            all={all as unknown as All<CursorList>}
            columns={columns as unknown as Column<Item<CursorList>>[]}
            onClose={() => setSaving(false)}
          />
        </Suspense>
      )}
    </>
  );
}
