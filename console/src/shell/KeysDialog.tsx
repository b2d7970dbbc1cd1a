// The keys of all pages.
import { Modal, Table } from '@mantine/core';

const KEYS: [string, string][] = [
  ['/ or ⌘K', 'Search'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['o or Enter', 'Open row'],
  ['x', 'Select row'],
  ['r', 'Refresh the page'],
  ['?', 'Keyboard shortcuts'],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
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
