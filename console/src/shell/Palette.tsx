// The command palette: `/` opens it (Keys.tsx). It finds pages, and opens the page of an id that is pasted; other words search payloads.
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCaller } from '../api/caller.tsx';
import { pages } from '../pages/index.ts';
import { mayWith } from './may.ts';

const [store, palette] = createSpotlight();
export const openPalette = () => palette.open();

const ID = /^([a-z]{3}(?:_wh)?)_[0-9a-z]{26}$/;

/** The page of an id; undefined when no page is for such ids. */
export function pageOfId(text: string): string | undefined {
  const [id = '', prefix] = ID.exec(text.trim()) ?? [];
  return pages.find((page) => page.idOf === prefix?.replace('_wh', ''))?.path.replace('$id', id);
}

export function Palette() {
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const { scopes } = useCaller().key;
  const open = (to: string, search = {}) => void navigate({ to, search: search as never });
  const text = query.trim();
  const ofId = pageOfId(text);
  const found: SpotlightActionData[] = ofId
    ? [{ id: 'id', label: `Open ${text}`, onClick: () => open(ofId) }]
    : pages
        .filter((page) => page.menu && (!page.scope || mayWith(scopes, page.scope)))
        .filter((page) => page.title.toLowerCase().includes(text.toLowerCase()))
        .map((page) => ({ id: page.path, label: page.title, onClick: () => open(page.path) }));
  if (text !== '' && !ofId && mayWith(scopes, 'events:read')) {
    found.push({
      id: 'search',
      label: `Search payloads for “${text}”`,
      onClick: () => open('/events', { search: text }),
    });
  }
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      transitionProps={{ duration: 0 }}
    >
      <Spotlight.Search placeholder="A page, an id, or words of a payload" aria-label="Search" />
      <Spotlight.ActionsList aria-label="Found">
        {found.map(({ id, label, onClick }) => (
          <Spotlight.Action key={id} label={label} onClick={onClick} />
        ))}
        {found.length === 0 && <Spotlight.Empty>No page has such a name</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
