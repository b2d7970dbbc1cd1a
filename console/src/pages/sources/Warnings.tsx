// What works at a source, but should be changed.
import { Alert } from '@mantine/core';

export function Warnings({ of: texts }: { of: readonly string[] }) {
  return texts.map((text) => (
    <Alert key={text} color="yellow" title="Short secret" my="sm">
      {text}
    </Alert>
  ));
}
