// Takes what is shown along: the rows as CSV, all that match as a CSV file, or the API call behind them as a curl command.
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { lazy, Suspense, useState } from 'react';
import { useCaller } from '../api/caller.tsx';
import type { Item } from '../api/client.ts';
import { type ApiCall, curlOf } from '../api/curl.ts';
import { type CursorList, MOST } from '../api/every.ts';
import { csvOf } from '../csv.ts';
import { countText } from '../format.ts';
import type { Column } from './DataTable.tsx';
import type { All } from './SaveAll.tsx';

const SaveAll = lazy(async () => ({ default: (await import('./SaveAll.tsx')).SaveAll }));

interface Props<Row, N extends CursorList> {
  call: ApiCall;
  columns?: Column<Row>[];
  rows?: Row[];
  /** Of a list that continues: what all rows match. */
  all?: All<N> | undefined;
}

export function CopyMenu<Row, N extends CursorList = CursorList>({ call, columns, rows, all }: Props<Row, N>) {
  const { organization } = useCaller();
  const [isSaving, setSaving] = useState(false);
  return (
    <>
      <Menu transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button size="xs" variant="default">
            Copy
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {columns && rows && (
            <Menu.Item
              onClick={() =>
                void copy(csvOf(columns, rows), rows.length === 1 ? 'One row as CSV' : `${rows.length} rows as CSV`)
              }
            >
              These rows as CSV
            </Menu.Item>
          )}
          {columns && all && (
            <Menu.Item onClick={() => setSaving(true)}>
              All that match as a CSV file (up to {countText(MOST)})
            </Menu.Item>
          )}
          <Menu.Item onClick={() => void copy(curlOf(call, organization.id), 'The API call')}>
            The API call (curl)
          </Menu.Item>
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

/** Puts text on the clipboard and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notifications.show({ message: `${what}: copied` });
  } catch {
    // Browsers allow it on HTTPS and loopback only.
    notifications.show({ color: 'red', message: 'The browser does not let this page copy; it does over HTTPS' });
  }
}
