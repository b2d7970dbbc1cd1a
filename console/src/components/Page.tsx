// The head of a page: its title, which the window has too, and what can be done.
import { Group } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} - Hookyard`;
  }, [title]);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <h1>{title}</h1>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </>
  );
}
