// The time range of the page and the time zone, once for all pages. Both are kept: the range in the address, the zone
// in the browser.
import { Button, Menu } from '@mantine/core';
import { mayWith, useCaller } from '../api/caller.tsx';
import { ClockIcon } from '../components/icons.tsx';
import { useRouterState } from '@tanstack/react-router';
import { localZoneName, type Zone, zoneName } from '../format.ts';
import { type PageRow, pages } from '../pages/index.ts';
import { isRangeName, RANGES, type RangeName, usePageSearch } from '../search.ts';
import { useZone } from '../zone.tsx';

const RANGE_LABELS: Record<RangeName | 'all', string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
};
/** Lists may show all that is kept; figures reach back a month. */
const WITH_ALL = ['/events', '/deliveries', '/audit', '/replays/new'];

/** The row of the page that is shown. */
export function usePage() {
  const route = String(useRouterState({ select: (state) => state.matches.at(-1)?.fullPath }) ?? '');
  return pages.find(({ path }) => path === (route === '/' ? '/' : route.replace(/\/$/, '')));
}

/** The pages that the key may open. */
export function useOpenPages(): PageRow[] {
  const { scopes } = useCaller().key;
  return pages.filter(({ scope }) => !scope || mayWith(scopes, scope));
}

const shortZone = (zone: Zone): string => zoneName(zone).split('/').at(-1)?.replace('_', ' ') ?? 'Local';

export function TimeMenu() {
  const [search, set] = usePageSearch();
  const { zone, setZone } = useZone();
  const page = usePage();
  const isCustom = search.from !== undefined || search.to !== undefined;
  const chosen = search.range === 'all' || isRangeName(search.range) ? search.range : page?.range;
  const ranges = (Object.keys(RANGE_LABELS) as (keyof typeof RANGE_LABELS)[]).filter(
    (name) => name !== 'all' || WITH_ALL.includes(page?.path ?? ''),
  );
  const label = isCustom ? 'Custom range' : chosen && RANGE_LABELS[chosen];
  const text = [page?.range && label, shortZone(zone)].filter(Boolean).join(' · ');
  const mark = (isChosen: boolean) => (isChosen ? '✓' : undefined);
  if (!page?.range && localZoneName === 'UTC') return null;
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<ClockIcon />} aria-label={`Time: ${text}`} className="time">
          {text}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {page?.range && (
          <>
            <Menu.Label>Time range</Menu.Label>
            {ranges.map((range) => (
              <Menu.Item
                key={range}
                rightSection={mark(!isCustom && range === chosen)}
                onClick={() => set({ range, from: undefined, to: undefined })}
              >
                {RANGE_LABELS[range]}
              </Menu.Item>
            ))}
            <Menu.Item
              rightSection={mark(isCustom)}
              onClick={() =>
                set({ range: undefined, from: new Date(Date.now() - RANGES['24h']).toISOString(), to: undefined })
              }
            >
              Custom range…
            </Menu.Item>
          </>
        )}
        {localZoneName !== 'UTC' && (
          <>
            <Menu.Label>Time zone</Menu.Label>
            {(['utc', 'local'] as const).map((one) => (
              <Menu.Item key={one} rightSection={mark(one === zone)} onClick={() => setZone(one)}>
                {zoneName(one)}
              </Menu.Item>
            ))}
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
