// Filters of lists. Each is a member of the address (search.ts), so that what is seen can be sent to somebody.
import { Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { useAsk } from '../api/queries.ts';
import { timeText, type Zone } from '../format.ts';
import { plain, zoneName } from '../format.ts';
import { isRangeName, RANGES, type RangeName, usePageSearch } from '../search.ts';
import { useZone } from '../zone.tsx';

/** One of some words. */
export function ChoiceFilter({
  name,
  label,
  choices,
}: {
  name: string;
  label: string;
  choices: readonly (string | { value: string; label: string })[];
}) {
  const [search, set] = usePageSearch();
  const data = choices.map((choice) =>
    typeof choice === 'string' ? { value: choice, label: choice.replaceAll('_', ' ') } : choice,
  );
  const value = search[name] ?? '';
  // One that is not among the first hundred is shown by its id.
  const known = value === '' || data.some((choice) => choice.value === value);
  return (
    <NativeSelect
      size="xs"
      label={label}
      value={value}
      onChange={(event) => set({ [name]: event.currentTarget.value || undefined })}
      data={[{ value: '', label: 'All' }, ...data, ...(known ? [] : [{ value, label: value }])]}
    />
  );
}

/** A record by its name. */
export function RecordFilter({
  name,
  label,
  list,
}: {
  name: string;
  label: string;
  list: 'listSources' | 'listDestinations' | 'listRoutes';
}) {
  const { data } = useAsk(list, { pageSize: 100 });
  const records = (data?.data ?? []) as { id: string; name: string }[];
  return (
    <ChoiceFilter
      name={name}
      label={label}
      choices={records.map(({ id, name: text }) => ({ value: id, label: plain(text) }))}
    />
  );
}

/** Words; the question is asked on Enter, because a search costs. */
export function TextFilter({ name, label, placeholder }: { name: string; label: string; placeholder?: string }) {
  const [search, set] = usePageSearch();
  const given = search[name] ?? '';
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    if (text !== (search[name] ?? '')) set({ [name]: text || undefined });
  };
  return (
    <form onSubmit={apply}>
      <TextInput
        size="xs"
        label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => apply()}
      />
    </form>
  );
}

/** From when to when: the last hours or days, everything, or two times in the zone of the page. */
export function RangeFilter({ byDefault, withAll = true }: { byDefault: RangeName | 'all'; withAll?: boolean }) {
  const [search, set] = usePageSearch();
  const { zone } = useZone();
  const isOwn = search.from !== undefined || search.to !== undefined;
  const value = isOwn ? 'own' : isRangeName(search.range) || (search.range === 'all' && withAll) ? search.range : byDefault;
  const choose = (range: string) => {
    if (range !== 'own') return set({ range, from: undefined, to: undefined });
    set({ range: undefined, from: new Date(Date.now() - RANGES['24h']).toISOString(), to: undefined });
  };
  return (
    <Group gap="xs" align="end">
      <NativeSelect
        size="xs"
        label="Time"
        value={value}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: '1h', label: 'Last hour' },
          { value: '24h', label: 'Last 24 hours' },
          { value: '7d', label: 'Last 7 days' },
          { value: '30d', label: 'Last 30 days' },
          ...(withAll ? [{ value: 'all', label: 'All that is kept' }] : []),
          { value: 'own', label: 'From … to …' },
        ]}
      />
      {isOwn && <Moment name="from" label={`From (${zoneName(zone)})`} zone={zone} />}
      {isOwn && <Moment name="to" label={`To (${zoneName(zone)})`} zone={zone} />}
    </Group>
  );
}

function Moment({ name, label, zone }: { name: 'from' | 'to'; label: string; zone: Zone }) {
  const [search, set] = usePageSearch();
  const shown = search[name] ? timeText(search[name], zone).replace(' ', 'T') : '';
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      step={1}
      label={label}
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
