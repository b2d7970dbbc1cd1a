// What is around every page: menu, search, time zone, theme, who is signed in, and whether the API answers.
import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  Menu,
  NavLink,
  SegmentedControl,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { useCaller } from '../api/caller.tsx';
import { connection } from '../api/connection.ts';
import { session } from '../api/session.ts';
import { localZoneName, plain, type Zone } from '../format.ts';
import { type PageRow, pages } from '../pages/index.ts';
import { useZone } from '../zone.tsx';
import { Keys } from './Keys.tsx';
import { openPalette, Palette } from './later.ts';
import { mayWith } from './may.ts';

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { organization } = useCaller();
  // The menu covers the page where it is narrow.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the page changes
  useEffect(close, [path]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Text fw={700} component={Link} to="/" className="plain-link">
              Hookyard
            </Text>
            <Text size="sm" visibleFrom="md" truncate maw={200}>
              {plain(organization.name)}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="xs" onClick={() => void openPalette()} aria-keyshortcuts="/">
              Search <kbd className="key">/</kbd>
            </Button>
            <ZoneChoice />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <Links path={path} />
      </AppShell.Navbar>
      <AppShell.Main id="page">
        <ConnectionLost />
        <Suspense fallback={<Text role="status">Loading the page…</Text>}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <Suspense fallback={null}>
        <Palette />
      </Suspense>
      <Keys />
    </AppShell>
  );
}

function Links({ path }: { path: string }) {
  const { scopes } = useCaller().key;
  const shown = pages.filter((page) => page.menu && (!page.scope || mayWith(scopes, page.scope)));
  const groups = [...new Set(shown.map((page) => page.menu))];
  return groups.map((group) => (
    <nav key={group} aria-label={group}>
      <Text size="xs" tt="uppercase" mt="sm" px="xs" className="quiet">
        {group}
      </Text>
      {shown
        .filter((page) => page.menu === group)
        .map((page) => (
          <PageLink key={page.path} page={page} path={path} />
        ))}
    </nav>
  ));
}

function PageLink({ page, path }: { page: PageRow; path: string }) {
  const isHere = page.path === '/' ? path === '/' : path === page.path || path.startsWith(`${page.path}/`);
  return (
    <NavLink
      component={Link}
      to={page.path}
      label={page.title}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      variant="light"
    />
  );
}

function ZoneChoice() {
  const { zone, setZone } = useZone();
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time zone"
      value={zone}
      onChange={(value) => setZone(value as Zone)}
      data={[
        { value: 'utc', label: 'UTC' },
        { value: 'local', label: localZoneName.split('/').at(-1)?.replace('_', ' ') ?? 'Local' },
      ]}
      transitionDuration={0}
    />
  );
}

function Account() {
  const { key, organization } = useCaller();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="default" aria-label="Account and theme">
          ⋮
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {plain(organization.name)}: key “{plain(key.name)}”,{' '}
          {key.scopes.length > 3 ? `${key.scopes.length} scopes` : key.scopes.join(', ')}
        </Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)}>
            {colorScheme === scheme ? '● ' : ''}
            {{ light: 'Light', dark: 'Dark', auto: 'Theme of the system' }[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => session.end('signed-out')}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function ConnectionLost() {
  const isLost = useSyncExternalStore(connection.subscribe, connection.isLost);
  return (
    <div role="status">
      {isLost && (
        <Alert color="yellow" title="The API does not answer" mb="sm">
          What is shown may be old. The console tries again by itself, and continues when the API is back.
        </Alert>
      )}
    </div>
  );
}
