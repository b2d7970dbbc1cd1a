// Filters of lists. Each is a member of the address (search.ts), so that what is seen can be sent to somebody.
import { Group, MultiSelect, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { timeText, type Zone } from '../format.ts';
import { zoneName } from '../format.ts';
import { type Listed, RecordField } from '../forms/fields.tsx';
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
  // One that the page does not know is shown as it is.
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

/** Several of some words; none chosen: any. */
export function SeveralFilter({ name, label, choices }: { name: string; label: string; choices: readonly string[] }) {
  const [search, set] = usePageSearch();
  const value = (search[name] ?? '').split(',').filter((one) => choices.includes(one));
  return (
    <MultiSelect
      size="xs"
      label={label}
      placeholder={value.length === 0 ? 'All' : ''}
      value={value}
      onChange={(next) => set({ [name]: next.join(',') || undefined })}
      data={choices.map((choice) => ({ value: choice, label: choice.replaceAll('_', ' ') }))}
      comboboxProps={{ transitionProps: { duration: 0 } }}
      maw={320}
    />
  );
}

/** A record by its name. */
export function RecordFilter({ name, label, list }: { name: string; label: string; list: Listed }) {
  const [search, set] = usePageSearch();
  return (
    <RecordField
      size="xs"
      placeholder="All"
      label={label}
      list={list}
      value={search[name] ?? null}
      onChange={(id) => set({ [name]: id ?? undefined })}
      isLazy
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
  const value = isOwn
    ? 'own'
    : isRangeName(search.range) || (search.range === 'all' && withAll)
      ? search.range
      : byDefault;
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
