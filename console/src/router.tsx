// The pages as routes. The table is pages/index.ts; addresses are read and written by search.ts.
import type { ComponentType } from 'react';
import { useMay } from './api/caller.tsx';
import { Callout } from './components/ui.tsx';
import { type PageRow, pages } from './pages/index.ts';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  useRouter,
} from '@tanstack/react-router';
import { Failed } from './components/Failed.tsx';
import { consolePath } from './api/urls.ts';
import { Page } from './components/Page.tsx';
import { parseSearch, stringifySearch } from './search.ts';
import { Shell } from './shell/Shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed });

const routes = pages.map((page) =>
  createRoute({
    getParentRoute: () => root,
    path: page.path,
    component: lazyRouteComponent(async () => ({ default: byScope(page, await page.load()) })),
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: consolePath,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        Go to the <Link to="/">overview</Link>, or press <kbd className="key">/</kbd> to search.
      </p>
    </Page>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <Failed error={error} again={again} />;
}

/** The page for keys with its scope; another one says why it is not there. */
export function byScope({ scope, title }: PageRow, Shown: ComponentType): ComponentType {
  if (scope === undefined) return Shown;
  return function ByScope() {
    const may = useMay(scope);
    if (may) return <Shown />;
    return (
      <Page title={title}>
        <Callout tone="warn" title="Your API key has no access to this page" role="status">
          This page requires the <code>{scope}</code> scope. Sign in with another key or ask an administrator for one.
        </Callout>
      </Page>
    );
  };
}
