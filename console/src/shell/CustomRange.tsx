// The time range of the page where it is none of those that the menu offers.
import { Button, TextInput } from '@mantine/core';
import { Cross2Icon } from '../components/icons.tsx';
import { timeText, zoneName } from '../format.ts';
import { usePageSearch } from '../search.ts';
import { useZone } from '../zone.tsx';
import { usePage } from './TimeMenu.tsx';

/** From when to when, where a custom range is chosen. */
export function CustomRange() {
  const [search, set] = usePageSearch();
  const page = usePage();
  if (!page?.range || (search.from === undefined && search.to === undefined)) return null;
  return (
    <search className="row row-bottom" aria-label="Custom range">
      <Moment name="from" label="From" />
      <Moment name="to" label="To" />
      <Button
        variant="default"
        leftSection={<Cross2Icon />}
        onClick={() => set({ from: undefined, to: undefined, range: undefined })}
      >
        Clear range
      </Button>
    </search>
  );
}

function Moment({ name, label }: { name: 'from' | 'to'; label: string }) {
  const [search, set] = usePageSearch();
  const { zone } = useZone();
  const shown = search[name] ? timeText(search[name], zone).replace(' ', 'T') : '';
  return (
    <TextInput
      type="datetime-local"
      step={1}
      label={`${label} (${zoneName(zone)})`}
      key={shown}
      defaultValue={shown}
      onBlur={(event) => {
        const text = event.currentTarget.value;
        if (text === shown) return;
        // Without a zone a browser reads it as local.
        set({ [name]: text === '' ? undefined : new Date(zone === 'utc' ? `${text}Z` : text).toISOString() });
      }}
    />
  );
}
