// Filters of lists. Each is a member of the address (search.ts), so that what is seen can be sent to somebody.
import { ActionIcon, Button, MultiSelect, NativeSelect, Popover, TextInput } from '@mantine/core';
import { BookmarkIcon, Cross2Icon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useLocation } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { sentence } from '../format.ts';
import { type Listed, RecordField } from '../forms/fields.tsx';
import { type Search, usePageSearch } from '../search.ts';
import { statusText } from './ui.tsx';

export type Choices = readonly (string | { value: string; label: string })[];

export const YES_NO = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];
export const flagOf = (search: Search, name: string): boolean | undefined =>
  search[name] === undefined ? undefined : search[name] === 'true';

interface FilterProps {
  name: string;
  label: string;
}

/** One of some words. */
export function ChoiceFilter({ name, label, choices }: FilterProps & { choices: Choices }) {
  const [search, set] = usePageSearch();
  const data = choices.map((choice) =>
    typeof choice === 'string' ? { value: choice, label: statusText(choice) } : choice,
  );
  const value = search[name] ?? '';
  // One that the page does not know is shown as it is.
  const known = value === '' || data.some((choice) => choice.value === value);
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      onChange={(event) => set({ [name]: event.currentTarget.value || undefined })}
      data={[
        { value: '', label },
        ...data.map((choice) => ({ ...choice, label: `${label}: ${choice.label}` })),
        ...(known ? [] : [{ value, label: value }]),
      ]}
    />
  );
}

/** Several of some words; none chosen: any. */
export function SeveralFilter({ name, label, choices }: FilterProps & { choices: readonly string[] }) {
  const [search, set] = usePageSearch();
  const value = (search[name] ?? '').split(',').filter((one) => choices.includes(one));
  return (
    <MultiSelect
      aria-label={label}
      placeholder={value.length === 0 ? label : ''}
      value={value}
      onChange={(next) => set({ [name]: next.join(',') || undefined })}
      data={choices.map((choice) => ({ value: choice, label: statusText(choice) }))}
    />
  );
}

/** A record by its name. */
export function RecordFilter({ name, label, list }: FilterProps & { list: Listed }) {
  const [search, set] = usePageSearch();
  return (
    <RecordField
      placeholder={label}
      aria-label={label}
      list={list}
      value={search[name] ?? null}
      onChange={(id) => set({ [name]: id ?? undefined })}
      isLazy
    />
  );
}

/** Words; the question is asked on Enter, because a search costs. */
export function TextFilter({ name, label, isSearch = false }: FilterProps & { isSearch?: boolean }) {
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
        aria-label={label}
        placeholder={label}
        leftSection={isSearch ? <MagnifyingGlassIcon /> : undefined}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => apply()}
      />
    </form>
  );
}

interface BarProps {
  /** Filters that people often want, by name. */
  views?: Record<string, Search> | undefined;
  /** Filters that few need. */
  more?: ReactNode;
  children?: ReactNode;
}

/** The row of filters, with saved ones as chips. */
export function Filters({ views = {}, more, children }: BarProps) {
  const [search, set] = usePageSearch();
  const { pathname } = useLocation();
  const place = `hookyard.views.${pathname}`;
  const [saved, setSaved] = useState<Record<string, Search>>(
    () => JSON.parse(localStorage.getItem(place) ?? '{}') as Record<string, Search>,
  );
  const [isMore, setMore] = useState(false);
  const keep = (next: Record<string, Search>) => {
    localStorage.setItem(place, JSON.stringify(next));
    setSaved(next);
  };
  const now = filtersIn(search);
  const nothing = Object.fromEntries(Object.keys(now).map((name) => [name, undefined]));
  const hasFilter = Object.keys(now).length > 0;
  const isNow = (view: Search) => JSON.stringify(sorted(view)) === JSON.stringify(sorted(now));
  return (
    <>
      {(Object.keys(views).length > 0 || Object.keys(saved).length > 0) && (
        <section className="row" aria-label="Saved filters">
          {Object.entries({ All: {}, ...views, ...saved }).map(([label, view]) => (
            <span key={label} className="row" data-view="">
              <button
                type="button"
                className="chip"
                data-active={isNow(view) ? '' : undefined}
                aria-pressed={isNow(view)}
                onClick={() => set({ ...nothing, ...view })}
              >
                {label}
              </button>
              {label in saved && (
                <ActionIcon
                  size="xs"
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove the filter ${label}`}
                  onClick={() => keep(Object.fromEntries(Object.entries(saved).filter(([name]) => name !== label)))}
                >
                  <Cross2Icon />
                </ActionIcon>
              )}
            </span>
          ))}
        </section>
      )}
      <search className="filters" aria-label="Filters">
        {children}
        {isMore && more}
        {more && (
          <Button variant="subtle" onClick={() => setMore(!isMore)} aria-expanded={isMore}>
            {isMore ? 'Fewer filters' : 'More filters'}
          </Button>
        )}
        {hasFilter && (
          <Button variant="subtle" onClick={() => set(nothing)}>
            Clear
          </Button>
        )}
        {hasFilter && <SaveView onSave={(name) => keep({ ...saved, [name]: now })} />}
      </search>
    </>
  );
}

const NO_FILTERS = ['page', 'cursor', 'open', 'live', 'range', 'from', 'to', 'tab'];
const filtersIn = (search: Search): Search =>
  Object.fromEntries(
    Object.entries(search).filter(([name, value]) => value !== undefined && !NO_FILTERS.includes(name)),
  );
const sorted = (search: Search) => Object.entries(search).toSorted(([a], [b]) => (a < b ? -1 : 1));

function SaveView({ onSave }: { onSave: (name: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (name !== '') onSave(sentence(name));
    setOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus transitionProps={{ duration: 0 }}>
      <Popover.Target>
        <Button variant="subtle" leftSection={<BookmarkIcon />} onClick={() => setOpen(!isOpen)}>
          Save filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={save} className="row">
          <TextInput name="name" aria-label="Filter name" placeholder="Name" data-autofocus />
          <Button type="submit">Save</Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
