// The keys of all pages.
import { Modal, Table } from '@mantine/core';

const KEYS: [string, string][] = [
  ['/', 'Search: pages, an id, words of a payload'],
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['o or Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['r', 'Ask for everything on the page again'],
  ['?', 'These keys'],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys">
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
