// Forms as data: a field is a line that says its path, its label and what it holds.
import {
  Button,
  Checkbox,
  Input,
  MultiSelect,
  NativeSelect,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Cross2Icon, PlusIcon } from '../components/icons.tsx';
import { type ReactNode, useState } from 'react';
import { useAll } from '../api/lists.ts';
import { told } from '../api/errors.ts';
import { Names } from '../components/names.tsx';
import { type Fact, IconButton } from '../components/ui.tsx';
import { plain, type Unit, unitText } from '../format.ts';

export type Choices = readonly { value: string; label: string }[];

export type Listed =
  | 'listSources'
  | 'listDestinations'
  | 'listRoutes'
  | 'listFilters'
  | 'listTransforms'
  | 'listSchemas'
  | 'listApiKeys';

function useChoices(list: Listed, leaveOut: readonly string[] = [], enabled = true) {
  const { data, error } = useAll(list, enabled);
  const records = (data?.records ?? []) as { id: string; name: string }[];
  const seen = new Map<string, number>();
  for (const { name } of records) seen.set(name, (seen.get(name) ?? 0) + 1);
  // Names need not be unique.
  const choices = records
    .filter(({ id }) => !leaveOut.includes(id))
    .map(({ id, name }) => ({ value: id, label: (seen.get(name) ?? 0) > 1 ? `${plain(name)} (${id})` : plain(name) }));
  const note = error
    ? `Could not load the list: ${told(error).message}`
    : data?.isCut
      ? `Showing the first ${records.length} results.`
      : undefined;
  return { choices, note, isLoading: data === undefined && error === null };
}

interface OneProps {
  label?: string;
  'aria-label'?: string;
  description?: string | undefined;
  list: Listed;
  value: string | null;
  onChange: (id: string | null) => void;
  error?: ReactNode;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  /** The list is asked for when it is opened, or when a record of it is chosen. */
  isLazy?: boolean;
}

/** One record by its name. */
export function RecordField({ list, description, required = false, value, isLazy = false, ...props }: OneProps) {
  const [isOpened, setOpened] = useState(!isLazy);
  const { choices, note, isLoading } = useChoices(list, [], isOpened || Boolean(value));
  const isKnown = value === null || value === '' || choices.some((choice) => choice.value === value);
  return (
    <Select
      {...props}
      value={value}
      description={note ?? description}
      required={required}
      searchable
      clearable={!required}
      onDropdownOpen={() => setOpened(true)}
      nothingFoundMessage={isLoading ? 'Loading…' : 'No results'}
      data={isKnown ? choices : [...choices, { value, label: isLoading ? 'Loading…' : value }]}
    />
  );
}

interface ManyProps {
  label: string;
  description?: string | undefined;
  list: Listed;
  value: string[];
  onChange: (ids: string[]) => void;
  error?: ReactNode;
  required?: boolean;
  most?: number | undefined;
  leaveOut?: readonly string[] | undefined;
}

/** Several records by their names, in the order in which they were chosen. */
export function RecordsField({ list, description, most, leaveOut, value, ...props }: ManyProps) {
  const { choices, note, isLoading } = useChoices(list, leaveOut);
  const unknown = value.filter((id) => !choices.some((choice) => choice.value === id));
  return (
    <MultiSelect
      {...props}
      value={value}
      description={note ?? description}
      searchable
      maxValues={most}
      nothingFoundMessage="No results"
      data={[...choices, ...unknown.map((id) => ({ value: id, label: isLoading ? 'Loading…' : id }))]}
    />
  );
}

/** Names with values, such as headers. */
export type Pair = [name: string, value: string];

interface PairsProps {
  label: string;
  description?: string | undefined;
  value: Pair[];
  onChange: (value: Pair[]) => void;
  error?: ReactNode;
}

function PairsField({ label, description, value, onChange, error }: PairsProps) {
  const put = (index: number, place: 0 | 1, text: string) =>
    onChange(value.map((pair, at) => (at === index ? (place === 0 ? [text, pair[1]] : [pair[0], text]) : pair)));
  return (
    <Input.Wrapper label={label} description={description} error={error} size="xs">
      <fieldset className="plain-fields stack" aria-label={label}>
        {value.map(([name, text], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own while they are typed
          <div key={index} className="rule-row">
            <TextInput
              aria-label={`Name ${index + 1}`}
              placeholder="X-Tenant"
              value={name}
              onChange={(event) => put(index, 0, event.currentTarget.value)}
            />
            <TextInput
              aria-label={`Value ${index + 1}`}
              value={text}
              onChange={(event) => put(index, 1, event.currentTarget.value)}
            />
            <RemoveButton
              label={`Remove ${name || `row ${index + 1}`}`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            />
          </div>
        ))}
        <div>
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => onChange([...value, ['', '']])}>
            Add header
          </Button>
        </div>
      </fieldset>
    </Input.Wrapper>
  );
}

export const RemoveButton = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <IconButton label={label} onClick={onClick}>
    <Cross2Icon />
  </IconButton>
);

/** Pairs as the API takes them; a row without a name is left out. */
export const recordOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => name !== ''));

/** A field as data. Its path is a dotted one into the values of the form. */
export interface Field {
  path: string;
  label: string;
  help?: string | undefined;
  /** Without it a line of text. */
  kind?: 'area' | 'date' | 'secret' | 'whole' | 'number' | 'flag' | 'pairs' | undefined;
  /** Of a whole number: the form takes it so; where it is only shown it is `30 s` or `5 MiB`. */
  unit?: Unit | undefined;
  choices?: Choices | undefined;
  /** Several choices, or several records. */
  isMany?: boolean;
  list?: Listed;
  most?: number;
  leaveOut?: readonly string[];
  /** An example. */
  placeholder?: string | undefined;
  /** What an empty field means. */
  empty?: string;
  isRequired?: boolean;
  isFixed?: boolean;
}

interface Section {
  title: string;
  /** Closed at first. */
  isFolded?: boolean;
  fields: Entry[];
}

/** Something of its own, with the paths whose errors it shows. */
interface Node {
  node: ReactNode;
  paths?: string[];
  /** The same, where it is only shown. */
  facts?: Fact[];
}

/** A field, several beside each other, a section, or something of its own. */
export type Entry = Field | Field[] | Section | Node | false | null | undefined;

interface FieldsProps<Values> {
  form: UseFormReturnType<Values>;
  of: Entry[];
}

export function Fields<Values>({ form, of }: FieldsProps<Values>) {
  return of.map((entry, index) => <Shown key={keyOf(entry, index)} form={form} entry={entry} />);
}

function keyOf(entry: Entry, index: number): string {
  if (!entry || 'node' in entry) return String(index);
  if (Array.isArray(entry)) return entry.map(({ path }) => path).join();
  return 'fields' in entry ? entry.title : entry.path;
}

function Shown<Values>({ form, entry }: { form: UseFormReturnType<Values>; entry: Entry }) {
  if (!entry) return null;
  if ('node' in entry) return entry.node;
  if (Array.isArray(entry))
    return (
      <div className="rule-row field-row">
        {entry.map((field) => (
          <One key={field.path} form={form} of={field} />
        ))}
      </div>
    );
  if (!('fields' in entry)) return <One form={form} of={entry} />;
  const fields = (
    <Stack gap="sm">
      <Fields form={form} of={entry.fields} />
    </Stack>
  );
  if (!entry.isFolded)
    return (
      <fieldset className="fields">
        <legend>{entry.title}</legend>
        {fields}
      </fieldset>
    );
  const hasError = Object.keys(form.errors).some((path) => pathsIn(entry.fields).includes(path));
  return (
    <details className="fields" open={hasError || undefined}>
      <summary>{entry.title}</summary>
      {fields}
    </details>
  );
}

const pathsIn = (entries: Entry[]): string[] =>
  entries.flatMap((entry) => {
    if (!entry) return [];
    if ('node' in entry) return entry.paths ?? [];
    if (Array.isArray(entry)) return entry.map(({ path }) => path);
    return 'fields' in entry ? pathsIn(entry.fields) : [entry.path];
  });

function One<Values>({ form, of }: { form: UseFormReturnType<Values>; of: Field }) {
  const { path, help, kind, unit, choices, isMany, list, placeholder = of.empty } = of;
  const label = unit ? `${of.label} (${unit})` : of.label;
  const input = form.getInputProps(path) as FieldInput;
  const shared = {
    ...{ label, description: help, error: input.error, placeholder },
    ...{ required: of.isRequired ?? false, disabled: of.isFixed ?? false },
  };
  if (kind === 'flag')
    return <Checkbox label={label} description={help} {...form.getInputProps(path, { type: 'checkbox' })} />;
  if (kind === 'pairs') return <PairsField {...shared} value={input.value as Pair[]} onChange={input.onChange} />;
  if (kind === 'whole' || kind === 'number')
    return (
      <NumberInput
        {...shared}
        clampBehavior="none"
        allowDecimal={kind === 'number'}
        value={(input.value as number | null) ?? ''}
        // The API says what is wrong with one that is out of range.
        onChange={(next) => input.onChange(next === '' ? null : Number(next))}
      />
    );
  if (list && isMany)
    return (
      <RecordsField
        {...shared}
        list={list}
        most={of.most}
        leaveOut={of.leaveOut}
        value={input.value as string[]}
        onChange={input.onChange}
      />
    );
  if (list) return <RecordField {...shared} list={list} value={input.value as string} onChange={input.onChange} />;
  if (choices && isMany)
    return (
      <MultiSelect
        {...shared}
        searchable
        data={[...choices]}
        value={input.value as string[]}
        onChange={input.onChange}
      />
    );
  if (choices)
    return (
      <NativeSelect
        {...shared}
        data={[...choices]}
        value={(input.value as string | null) ?? ''}
        onChange={input.onChange}
      />
    );
  const Text = kind === 'area' ? Textarea : kind === 'secret' ? PasswordInput : TextInput;
  return (
    <Text
      {...shared}
      {...(kind === 'area' && { autosize: true, minRows: 2 })}
      {...(kind === 'date' && { type: 'date' })}
      autoComplete="off"
      value={input.value as string}
      onChange={input.onChange}
      // What is typed replaces the mask of a stored secret.
      {...(kind === 'secret' && { onFocus: (event) => event.currentTarget.select() })}
    />
  );
}

interface FieldInput {
  value: unknown;
  onChange: (value: unknown) => void;
  error?: ReactNode;
}

/** What the form has, where it is only shown. */
export const factsOf = (entries: Entry[], values: object): Fact[] =>
  entries.flatMap((entry): Fact[] => {
    if (!entry) return [];
    if ('node' in entry) return entry.facts ?? [];
    if (Array.isArray(entry)) return factsOf(entry, values);
    if ('fields' in entry) return factsOf(entry.fields, values);
    const value = entry.path.split('.').reduce<unknown>((part, name) => part?.[name as never], values);
    const isShown = entry.kind !== 'secret' && !['name', 'description', 'enabled'].includes(entry.path);
    return [isShown && [entry.label, shownOf(entry, value)]];
  });

function shownOf({ kind, unit, choices, list, empty = '–' }: Field, value: unknown): ReactNode {
  if (kind === 'flag') return value ? 'Yes' : 'No';
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => one !== null && one !== '');
  if (list && texts.length > 0) return <Names list={list} ids={texts as string[]} />;
  const labelOf = (one: unknown) =>
    typeof one === 'number'
      ? unitText(one, unit)
      : (choices?.find((choice) => choice.value === one)?.label ?? String(one));
  const text = texts.map((one) => (Array.isArray(one) ? one.join(': ') : labelOf(one))).join(', ');
  return text === '' ? (
    <span className="quiet">{choices?.[0]?.value === '' ? choices[0].label : empty}</span>
  ) : (
    plain(text)
  );
}

/** An error that belongs to no field. */
export const errorOf = (error: ReactNode): Entry =>
  Boolean(error) && {
    node: (
      <p role="alert" className="bad">
        {error}
      </p>
    ),
  };

/** The errors that no field of the form shows. */
export const errorsBeside = (entries: Entry[], errors: Record<string, ReactNode>): Entry => {
  const shown = pathsIn(entries);
  return errorOf(
    Object.entries(errors)
      .filter(([path]) => !shown.includes(path))
      .map(([path, error]) => `${path}: ${error}`)
      .join('; '),
  );
};

/** The first fields of most records. */
export const NAME_FIELDS: Field[] = [
  { path: 'name', label: 'Name', isRequired: true },
  { path: 'description', label: 'Description' },
];

/** The last one. */
export const ENABLED: Field = { path: 'enabled', label: 'Enabled', kind: 'flag' };
