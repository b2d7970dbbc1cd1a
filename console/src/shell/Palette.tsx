// The command palette: `/` and Cmd-K open it (Keys.tsx). It finds pages, records by name, actions, and the page of an
// id that is pasted; other words search payloads.
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../api/caller.tsx';
import { useAsk } from '../api/queries.ts';
import { pathOfId } from '../components/ui.tsx';
import { plain } from '../format.ts';
import type { PageRow } from '../pages/index.ts';
import { useOpenPages } from './TimeMenu.tsx';

const [store, palette] = createSpotlight();
export const openPalette = () => palette.open();

const ID = /^([a-z]{3}(?:_wh)?)_[0-9a-z]{26}$/;
const TYPING_MS = 200;
const MOST_RECORDS = 5;

export function Palette() {
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const maySearch = useMay('events:read');
  const open = (to: string, search = {}) => void navigate({ to, search: search as never });
  const text = query.trim();
  const ofId = ID.test(text) ? pathOfId(text) : undefined;
  const records = useRecords(ofId ? '' : text);
  const isNamed = ({ title, words = '' }: PageRow) => `${title} ${words}`.toLowerCase().includes(text.toLowerCase());
  const named = useOpenPages().filter((page) => !page.path.includes('$') && isNamed(page));
  const found: SpotlightActionData[] = ofId
    ? [{ id: 'id', label: `Open ${text}`, onClick: () => open(ofId) }]
    : [
        ...named.map((page) => ({ id: page.path, label: page.title, onClick: () => open(page.path) })),
        ...records.map(({ id, name, kind, path }) => ({
          ...{ id, label: plain(name), description: kind },
          onClick: () => open(`${path}/${id}`),
        })),
      ];
  if (text !== '' && !ofId && maySearch) {
    found.push({
      id: 'search',
      label: `Search payloads for "${text}"`,
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
      <Spotlight.Search placeholder="Page, action, name, ID or payload text" aria-label="Search" />
      <Spotlight.ActionsList aria-label="Results">
        {found.map(({ id, label, description, onClick }) => (
          <Spotlight.Action key={id} label={label} description={description} onClick={onClick} />
        ))}
        {found.length === 0 && <Spotlight.Empty>No results</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Sources and destinations whose name has these words. */
function useRecords(text: string) {
  const [search] = useDebouncedValue(text, TYPING_MS);
  const input = { search, pageSize: MOST_RECORDS };
  const isAsked = search.length > 1;
  const sources = useAsk('listSources', input, { enabled: isAsked, scope: 'sources:read' });
  const destinations = useAsk('listDestinations', input, { enabled: isAsked, scope: 'destinations:read' });
  if (!isAsked || text === '') return [];
  const rows = (list: { id: string; name: string }[] = [], kind: string, path: string) =>
    list.map(({ id, name }) => ({ id, name, kind, path }));
  return [
    ...rows(sources.data?.data, 'Source', '/sources'),
    ...rows(destinations.data?.data, 'Destination', '/destinations'),
  ];
}
