// A page without access for the key says so: the sidebar does not lead there, but an address may.
import type { ComponentType } from 'react';
import { useMay } from '../api/caller.tsx';
import { Page } from '../components/Page.tsx';
import { Callout } from '../components/ui.tsx';
import type { PageRow } from '../pages/index.ts';

/** The page for keys with its scope; another one says why it is not there. */
export function byScope({ scope, title }: PageRow, Shown: ComponentType): ComponentType {
  if (scope === undefined) return Shown;
  return function ByScope() {
    const may = useMay(scope);
    if (may) return <Shown />;
    return (
      <Page title={title}>
        <Callout tone="warn" title="Your API key has no access to this page" role="status">
          The page needs the scope <code>{scope}</code>. Sign in with another key, or ask an administrator for one.
        </Callout>
      </Page>
    );
  };
}
