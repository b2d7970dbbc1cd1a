// A page that the key may not use says so: the menu does not lead there, but an address may.
import { Text } from '@mantine/core';
import type { ComponentType } from 'react';
import { useMay } from '../api/caller.tsx';
import { Page } from '../components/Page.tsx';
import type { PageRow } from '../pages/index.ts';

/** The page for keys with its scope; another one says why it is not there. */
export function byScope({ scope, title }: PageRow, Shown: ComponentType): ComponentType {
  if (scope === undefined) return Shown;
  return function ByScope() {
    const may = useMay(scope);
    if (may) return <Shown />;
    return (
      <Page title={title}>
        <Text role="status">
          {scope.endsWith(':write') ? 'This key may not change anything here.' : 'This key may not see this.'} It needs
          the scope <code>{scope}</code>: sign in with another key, or ask for one.
        </Text>
      </Page>
    );
  };
}
