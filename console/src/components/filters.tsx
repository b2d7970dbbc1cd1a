// Filters of lists. Each is a member of the address (search.ts), so that what is seen can be sent to somebody.
import { Box, Button, MultiSelect, NativeSelect, Popover, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { BookmarkIcon, Cross2Icon, MagnifyingGlassIcon, MixerHorizontalIcon } from './icons.tsx';
import { useLocation } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { mayWith, type SingleScope, useCaller } from '../api/caller.tsx';
import { choicesOf, sentence } from '../format.ts';
import { type Listed, RecordField } from '../forms/fields.tsx';
import { type Search, usePageSearch } from '../search.ts';
import { IconButton, statusText } from './ui.tsx';

export type Choices = readonly (string | { value: string; label: string })[];

/** A filter as data: a member of the address, sent to the list under the same name. */
export type Filter<Name extends string = string> = {
  name: Name;
  label: string;
  /** Few need it: it is shown on demand. */
  isMore?: true;
  /** What a key needs for it. */
  scope?: SingleScope;
} & (
  | { kind: 'text' | 'search' | 'number' }
  | { kind: 'flag' }
  | { kind: 'one'; choices: Choices }
  | { kind: 'several'; choices: readonly string[] }
  | { kind: 'record'; list: Listed }
);

const YES_NO = choicesOf({ true: 'Yes', false: 'No' });

/** Filters as the API takes them. What is not among the choices, or no number, the API refuses, and says so. */
export function inputOf(search: Search, filters: readonly Filter[]): Record<string, unknown> {
  return Object.fromEntries(
    filters.map((filter) => {
      const text = search[filter.name];
      if (text === undefined) return [filter.name, undefined];
      if (filter.kind === 'flag') return [filter.name, text === 'true'];
      if (filter.kind === 'number') return [filter.name, Number(text)];
      return [filter.name, filter.kind === 'several' ? text.split(',') : text];
    }),
  );
}

export function FilterField({ of }: { of: Filter }) {
  const [search, set] = usePageSearch();
  const { name, label } = of;
  const given = search[name] ?? '';
  const change = (value: string | null) => set({ [name]: value || undefined });
  if (of.kind === 'record')
    return (
      <RecordField
        placeholder={label}
        aria-label={label}
        list={of.list}
        value={given || null}
        onChange={change}
        isLazy
      />
    );
  if (of.kind === 'several') {
    const value = given.split(',').filter(Boolean);
    return (
      <MultiSelect
        aria-label={label}
        placeholder={value.length === 0 ? label : ''}
        value={value}
        onChange={(next) => change(next.join(','))}
        data={of.choices.map((choice) => ({ value: choice, label: statusText(choice) }))}
      />
    );
  }
  if (of.kind === 'flag' || of.kind === 'one') {
    const choices: Choices = of.kind === 'flag' ? YES_NO : of.choices;
    const data = choices.map((choice) =>
      typeof choice === 'string' ? { value: choice, label: statusText(choice) } : choice,
    );
    // One that the page does not know is shown as it is.
    if (given !== '' && !data.some(({ value }) => value === given)) data.push({ value: given, label: given });
    return (
      <NativeSelect
        aria-label={label}
        value={given}
        onChange={(event) => change(event.currentTarget.value)}
        data={[
          { value: '', label: `${label}: any` },
          ...data.map((choice) => ({ ...choice, label: `${label}: ${choice.label}` })),
        ]}
      />
    );
  }
  return <TextFilter label={label} given={given} isSearch={of.kind === 'search'} onApply={change} />;
}

interface TextProps {
  label: string;
  given: string;
  isSearch: boolean;
  onApply: (text: string) => void;
}

/** Words; the question is asked on Enter, because a search costs. */
function TextFilter({ label, given, isSearch, onApply }: TextProps) {
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    if (text !== given) onApply(text);
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
  of: readonly Filter[];
  /** Filters that people often want, by name. */
  views?: Record<string, Search> | undefined;
}

/** The row of filters, with saved ones as chips. */
export function Filters({ of, views = {} }: BarProps) {
  const { scopes } = useCaller().key;
  const shown = of.filter(({ scope }) => !scope || mayWith(scopes, scope));
  const hasMore = shown.some(({ isMore }) => isMore);
  const [search, set] = usePageSearch();
  const { pathname } = useLocation();
  const kept = { key: `hookyard.views.${pathname}`, getInitialValueInEffect: false };
  const [saved = {}, setSaved] = useLocalStorage<Record<string, Search> | undefined>(kept);
  const [isMore, setMore] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const now = filtersIn(search);
  const nothing = without(now);
  const count = Object.keys(now).length;
  const hasFilter = count > 0;
  // A view replaces what other views set, and keeps the other filters; a saved filter and All replace all.
  const viewed = without(...Object.values(views));
  const hasViews = Object.keys(views).length > 0;
  const chips = Object.entries({ All: {}, ...views, ...saved }).map(([label, view]) => {
    const replaced = label in saved || label === 'All' ? nothing : viewed;
    return { label, search: { ...replaced, ...view } as Search };
  });
  const isNow = (search: Search) => Object.entries(search).every(([name, value]) => now[name] === value);
  return (
    <>
      {(hasViews || Object.keys(saved).length > 0) && (
        <section className="row" aria-label="Saved filters">
          {chips.map(({ label, search: view }) => (
            <span key={label} className="row" data-view="">
              <button
                type="button"
                className="chip inline small quiet"
                data-active={isNow(view) ? '' : undefined}
                aria-pressed={isNow(view)}
                onClick={() => set(view)}
              >
                {label}
              </button>
              {label in saved && (
                <IconButton
                  size={24}
                  variant="subtle"
                  color="gray"
                  label={`Remove saved filter ${label}`}
                  onClick={() => setSaved(Object.fromEntries(Object.entries(saved).filter(([name]) => name !== label)))}
                >
                  <Cross2Icon />
                </IconButton>
              )}
            </span>
          ))}
        </section>
      )}
      <Box hiddenFrom="sm">
        <Button
          variant="default"
          leftSection={<MixerHorizontalIcon />}
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isOpen}
        >
          Filters{hasFilter && ` (${count})`}
        </Button>
      </Box>
      <search className="row filters" aria-label="Filters" data-open={isOpen ? '' : undefined}>
        {shown
          .filter(({ name, isMore: isRare }) => isMore || !isRare || search[name] !== undefined)
          .map((filter) => (
            <FilterField key={filter.name} of={filter} />
          ))}
        {hasMore && (
          <Button variant="subtle" onClick={() => setMore(!isMore)} aria-expanded={isMore}>
            {isMore ? 'Fewer filters' : 'More filters'}
          </Button>
        )}
        {hasFilter && (
          <Button variant="subtle" onClick={() => set(nothing)}>
            Clear
          </Button>
        )}
        {hasFilter && <SaveView onSave={(name) => setSaved({ ...saved, [name]: now })} />}
      </search>
    </>
  );
}

const NO_FILTERS = ['page', 'cursor', 'open', 'live', 'range', 'from', 'to', 'tab'];
/** The members of the address that are filters. */
export const filtersIn = (search: Search): Search =>
  Object.fromEntries(
    Object.entries(search).filter(([name, value]) => value !== undefined && !NO_FILTERS.includes(name)),
  );

/** The change that removes all members of these. */
export const without = (...searches: Search[]): Search =>
  Object.fromEntries(searches.flatMap(Object.keys).map((name) => [name, undefined]));

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
