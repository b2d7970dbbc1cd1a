// The sidebar: the organization, and the pages in the order of use. Narrow, it shows icons alone.
import { Menu, Tooltip } from '@mantine/core';
import {
  ActivityLogIcon,
  DashboardIcon,
  DoubleArrowLeftIcon,
  DoubleArrowRightIcon,
  EnterIcon,
  ExclamationTriangleIcon,
  ExitIcon,
  GearIcon,
  MixerHorizontalIcon,
  PaperPlaneIcon,
  Share1Icon,
} from '../components/icons.tsx';
import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useCaller } from '../api/caller.tsx';
import { useSome } from '../api/lists.ts';
import { session, sessionName } from '../api/session.ts';
import { plain } from '../format.ts';
import { type PageRow, pages } from '../pages/index.ts';
import { useOpenPages } from './TimeMenu.tsx';
import { usePageSearch } from '../search.ts';

const ICONS: Record<string, ComponentType> = {
  '/': DashboardIcon,
  '/events': ActivityLogIcon,
  '/deliveries': PaperPlaneIcon,
  '/issues': ExclamationTriangleIcon,
  '/sources': EnterIcon,
  '/destinations': ExitIcon,
  '/routes': Share1Icon,
  '/filters': MixerHorizontalIcon,
  '/settings': GearIcon,
};
/** What a section of several lists is called. */
const SECTIONS: Record<string, string> = { '/filters': 'Rules' };

interface Props {
  path: string;
  isNarrow: boolean;
  onNarrow: (isNarrow: boolean) => void;
  /** A page was chosen. */
  onClose: () => void;
}

export function Sidebar({ path, isNarrow, onNarrow, onClose }: Props) {
  const open = useOpenPages();
  const here = sectionOf(path);
  const isInSettings = here?.menu === 'Settings';
  return (
    <>
      <Organization isNarrow={isNarrow} />
      {(['Watch', 'Connect', 'Settings'] as const).map((group) => (
        <nav key={group} aria-label={group}>
          {open
            .filter(({ menu, path: to }) => menu === group && (group !== 'Settings' || to in ICONS || isInSettings))
            .map((page) => (
              <Item key={page.path} page={page} isHere={page === here} isNarrow={isNarrow} onClick={onClose} />
            ))}
        </nav>
      ))}
      <button
        type="button"
        className="side-item"
        onClick={() => onNarrow(!isNarrow)}
        aria-label={isNarrow ? 'Expand sidebar' : 'Collapse sidebar'}
      >
        {isNarrow ? <DoubleArrowRightIcon /> : <DoubleArrowLeftIcon />}
        <span className="side-label">Collapse</span>
      </button>
    </>
  );
}

/** The page of the sidebar to whose section an address belongs. */
function sectionOf(path: string): PageRow | undefined {
  const list = pages.find((page) => page.path === path || (page.path !== '/' && path.startsWith(`${page.path}/`)));
  return pages.find((page) => page.path === (list?.section ?? list?.path)) ?? list;
}

interface ItemProps {
  page: PageRow;
  isHere: boolean;
  isNarrow: boolean;
  onClick: () => void;
}

function Item({ page, isHere, isNarrow, onClick }: ItemProps) {
  const [{ range }] = usePageSearch();
  const Icon = ICONS[page.path];
  if (!Icon && isNarrow) return null;
  const label = SECTIONS[page.path] ?? page.title;
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <Link
        to={page.path}
        // A time range that was chosen stays.
        search={(page.range && range ? { range } : {}) as never}
        className={Icon ? 'side-item' : 'side-item side-sub'}
        data-active={isHere ? '' : undefined}
        aria-current={isHere ? 'page' : undefined}
        aria-label={isNarrow ? label : undefined}
        onClick={onClick}
      >
        {Icon && <Icon />}
        <span className="side-label">{label}</span>
        {page.path === '/issues' && <OpenIssues />}
      </Link>
    </Tooltip>
  );
}

function OpenIssues() {
  const open = useSome('listIssues', { state: 'open' }, { scope: 'issues:read' });
  return open && <span className="side-count">{open.total > 99 ? '99+' : open.total}</span>;
}

/** Whose records are shown; other keys that this tab has signed in with. */
function Organization({ isNarrow }: { isNarrow: boolean }) {
  const caller = useCaller();
  const others = session.known().filter(({ id }) => id !== caller.key.id);
  const name = plain(caller.organization.name);
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <button type="button" className="side-item" aria-label={isNarrow ? name : undefined}>
          <span className="avatar" aria-hidden="true">
            {name.charAt(0).toUpperCase()}
          </span>
          <span className="side-label">{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Signed in as</Menu.Label>
        <Menu.Item rightSection="✓">{plain(sessionName(caller))}</Menu.Item>
        {others.map((other) => (
          <Menu.Item key={other.id} onClick={() => session.begin(other.key)}>
            {plain(other.name)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => session.leave()}>Sign in with another API key</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
