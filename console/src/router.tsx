// The pages as routes. The table is pages/index.ts; addresses are read and written by search.ts.
import { pages } from './pages/index.ts';
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
import { consolePath } from './api/client.ts';
import { Page } from './components/Page.tsx';
import { parseSearch, stringifySearch } from './search.ts';
import { Shell } from './shell/Shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageFailed });

const routes = pages.map((page) =>
  createRoute({
    getParentRoute: () => root,
    path: page.path,
    component: lazyRouteComponent(page.load, page.component),
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
