// The head of a page: its title, which the window has too, what can be done, and the lists beside it.
import { Box, Group } from '@mantine/core';
import { ChevronLeftIcon } from './icons.tsx';
import { Link } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect } from 'react';
import { CustomRange } from '../shell/later.ts';
import { useOpenPages, usePage } from '../shell/TimeMenu.tsx';

interface Props {
  title: string;
  /** The list that the page belongs to: a link above the title. */
  crumb?: { to: string; label: string };
  /** Beside the title: a status. */
  status?: ReactNode;
  /** Below the title. */
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, crumb, status, note, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Hookyard`;
  }, [title]);
  return (
    <div className="page">
      <Group justify="space-between" align="flex-start" gap="8px 16px">
        <Box miw={0}>
          {crumb && (
            <Link to={crumb.to} className="crumb inline quiet">
              <ChevronLeftIcon aria-hidden="true" />
              {crumb.label}
            </Link>
          )}
          <div className="row row-loose">
            <h1>
              <bdi>{title}</bdi>
            </h1>
            {status}
          </div>
          {note && <div className="quiet">{note}</div>}
        </Box>
        <div className="row">{actions}</div>
      </Group>
      <Siblings />
      <Suspense fallback={null}>
        <CustomRange />
      </Suspense>
      {children}
    </div>
  );
}

/** The lists of one section: events, refused webhooks, replays. */
function Siblings() {
  const open = useOpenPages();
  const here = usePage();
  const section = here?.section ?? here?.path;
  const shown = open.filter((page) => page.section === section || (page.path === section && page.tab));
  if (!here || shown.length < 2) return null;
  return (
    <nav className="row" aria-label="Lists">
      {shown.map((page) => (
        <Link
          key={page.path}
          to={page.path}
          className="chip inline small quiet"
          data-active={page === here ? '' : undefined}
        >
          {page.title}
        </Link>
      ))}
    </nav>
  );
}
