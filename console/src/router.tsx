// The pages as routes. The table is pages/index.ts; addresses are read and written by search.ts.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from '@tanstack/react-router';
import { consolePath } from './api/urls.ts';
import { Page } from './components/Page.tsx';
import { pages } from './pages/index.ts';
import { parseSearch, stringifySearch } from './search.ts';
import { byScope } from './shell/ByScope.tsx';
import { Shell } from './shell/Shell.tsx';
import { PageFailed } from './shell/PageFailed.tsx';

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
