// The keys of all pages.
import { Modal } from '@mantine/core';
import { Table } from '../components/ui.tsx';

const KEYS: [string, string][] = [
  ['/, Ctrl+K or ⌘K', 'Search'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['o or Enter', 'Open row'],
  ['x', 'Select row'],
  ['r', 'Refresh page'],
  ['?', 'Keyboard shortcuts'],
];

export const KeysDialog = ({ onClose }: { onClose: () => void }) => (
  <Modal opened onClose={onClose} title="Keyboard shortcuts">
    <Table
      title="Shortcuts"
      rows={KEYS.map(([key, what]) => [
        <kbd key="key" className="key">
          {key}
        </kbd>,
        what,
      ])}
    />
  </Modal>
);
