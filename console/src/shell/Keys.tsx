// The keys of all pages. Rows of tables are moved through by components/DataTable.tsx.
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useEffect } from 'react';
import { queryClient } from '../api/queries.ts';
import { KeysDialog, openPalette } from './later.ts';
import { isTyping } from './typing.ts';

export function Keys() {
  const [isOpen, { open, close }] = useDisclosure();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      if (isCommand || (event.key === '/' && !isTyping(event))) {
        event.preventDefault();
        void openPalette();
      }
      if (isTyping(event)) return;
      if (event.key === '?') open();
      if (event.key === 'r') void queryClient.invalidateQueries();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
  return <Suspense fallback={null}>{isOpen && <KeysDialog onClose={close} />}</Suspense>;
}
