// The keys of all pages, and `?`, which shows them. Rows of tables are moved through by components/DataTable.tsx.
import { Modal, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { isTyping } from './typing.ts';
import { queryClient } from '../api/queries.ts';

const KEYS: [string, string][] = [
  ['/', 'Search: pages, an id, words of a payload'],
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['o or Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['r', 'Ask for everything on the page again'],
  ['?', 'These keys'],
];

export function Keys() {
  const [isOpen, { open, close }] = useDisclosure();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (event.key === '?') open();
      if (event.key === 'r') void queryClient.invalidateQueries();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
  return (
    <Modal opened={isOpen} onClose={close} title="Keys">
      <Table>
        <Table.Tbody>
          {KEYS.map(([key, what]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row">
                <kbd className="key">{key}</kbd>
              </Table.Th>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
