// Takes what is shown along: the rows as CSV, or the API call behind them as a curl command.
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useCaller } from '../api/caller.tsx';
import { type ApiCall, curlOf } from '../api/curl.ts';
import { csvOf } from '../csv.ts';
import type { Column } from './DataTable.tsx';

export function CopyMenu<Row>({ call, columns, rows }: { call: ApiCall; columns?: Column<Row>[]; rows?: Row[] }) {
  const { organization } = useCaller();
  return (
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
        <Menu.Item onClick={() => void copy(curlOf(call, organization.id), 'The API call')}>
          The API call (curl)
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
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
