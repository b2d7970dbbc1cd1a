// What is around every page: sidebar, search, time range and zone, who is signed in, and whether the API answers.
import { refetch } from '../api/queries.ts';
import { KeysDialog, openPalette, Palette } from './later.ts';
import { isTyping } from './typing.ts';
import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { useDisclosure, useLocalStorage, useWindowEvent } from '@mantine/hooks';
import { DotsHorizontalIcon, HamburgerMenuIcon, MagnifyingGlassIcon } from '../components/icons.tsx';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { useCaller, useMay } from '../api/caller.tsx';
import { onlineManager } from '@tanstack/react-query';
import { session } from '../api/session.ts';
import { Loading } from '../components/Failed.tsx';
import { Page } from '../components/Page.tsx';
import { Callout, IconButton } from '../components/ui.tsx';
import { plain, plural } from '../format.ts';
import { Sidebar } from './Sidebar.tsx';
import { TimeMenu, usePage } from './TimeMenu.tsx';

const WIDTH = { key: 'hookyard.sidebar', getInitialValueInEffect: false, sync: false };

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [width, setWidth] = useLocalStorage({ ...WIDTH, defaultValue: 'wide' });
  const isNarrow = width === 'narrow' && !isOpen;
  const path = useRouterState({ select: (state) => state.location.pathname });
  // The sidebar covers the page where it is narrow.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the page changes
  useEffect(close, [path]);
  return (
    <div className="shell">
      <header className="row row-between row-line">
        <div className="row row-line">
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={toggle}
            hiddenFrom="sm"
            aria-label="Menu"
            aria-expanded={isOpen}
          >
            <HamburgerMenuIcon />
          </ActionIcon>
          <button
            type="button"
            className="search-box row row-line box"
            onClick={() => void openPalette()}
            aria-keyshortcuts="/"
          >
            <MagnifyingGlassIcon aria-hidden="true" />
            <span>Search</span>
            <kbd className="key">/</kbd>
          </button>
        </div>
        <div className="row row-line">
          <TimeMenu />
          <Account />
        </div>
      </header>
      <aside
        className="side"
        aria-label="Sidebar"
        data-open={isOpen ? '' : undefined}
        data-narrow={isNarrow ? '' : undefined}
      >
        <Sidebar
          path={path}
          isNarrow={isNarrow}
          onNarrow={(next) => setWidth(next ? 'narrow' : 'wide')}
          onClose={close}
        />
      </aside>
      <main id="page">
        <ConnectionLost />
        <Suspense fallback={<Loading />}>
          <PageByScope />
        </Suspense>
      </main>
      <Suspense fallback={null}>
        <Palette />
      </Suspense>
      <Keys />
    </div>
  );
}

/** The page for keys with its scope; another one says why it is not there. */
function PageByScope() {
  const page = usePage();
  const may = useMay(page?.scope);
  if (page === undefined || may) return <Outlet />;
  return (
    <Page title={page.title}>
      <Callout tone="warn" title="Your API key has no access to this page" role="status">
        This page requires the <code>{page.scope}</code> scope. Sign in with another key, or ask a colleague who can
        create API keys.
      </Callout>
    </Page>
  );
}

const THEMES = { light: 'Light', dark: 'Dark', auto: 'System' } as const;

function Account() {
  const caller = useCaller();
  const { key } = caller;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu>
      <Menu.Target>
        <IconButton label="API key and theme">
          <DotsHorizontalIcon />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {plain(key.name)} · {key.scopes.length > 3 ? plural(key.scopes.length, 'scope') : key.scopes.join(', ')}
        </Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            onClick={() => setColorScheme(scheme)}
            rightSection={colorScheme === scheme ? '✓' : undefined}
          >
            {THEMES[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => session.signOut(caller)}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function ConnectionLost() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <div role="status">
      {!isOnline && (
        <Callout tone="warn" title="The API is not responding">
          The data below may be out of date. The console reconnects automatically.
        </Callout>
      )}
    </div>
  );
}

function Keys() {
  const [isOpen, { open, close }] = useDisclosure();
  useWindowEvent('keydown', (event) => {
    const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
    if (isCommand || (event.key === '/' && !isTyping(event))) {
      event.preventDefault();
      void openPalette();
    }
    if (isTyping(event)) return;
    if (event.key === '?') open();
    if (event.key === 'r' && !event.repeat) void refetch();
  });
  return <Suspense fallback={null}>{isOpen && <KeysDialog onClose={close} />}</Suspense>;
}
