// Forms as data: a field is a line that says its path, its label and what it holds.
import {
  Checkbox,
  Input,
  type InputWrapperProps,
  MultiSelect,
  type MultiSelectProps,
  NativeSelect,
  NumberInput,
  PasswordInput,
  Select,
  type SelectProps,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { useAll } from '../api/lists.ts';
import { told } from '../api/client.ts';
import { Names } from '../components/names.tsx';
import type { Fact, FactValues } from '../components/ui.tsx';
import { choicesOf, plain, type Unit, unitText } from '../format.ts';
import { Problem, Rows } from './Conditions.tsx';

/** Values that are their own labels, or labels by their values. */
export type Choices = readonly string[] | Readonly<Record<string, string>>;

const choicesIn = (of: Choices) =>
  Array.isArray(of) ? of.map((value: string) => ({ value, label: value })) : choicesOf(of as Record<string, string>);

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

interface OneProps extends Omit<SelectProps, 'data' | 'value'> {
  list: Listed;
  value: string | null;
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

interface ManyProps extends Omit<MultiSelectProps, 'data' | 'value'> {
  list: Listed;
  value: string[];
  leaveOut?: readonly string[] | undefined;
}

/** Several records by their names, in the order in which they were chosen. */
export function RecordsField({ list, description, leaveOut, value, ...props }: ManyProps) {
  const { choices, note, isLoading } = useChoices(list, leaveOut);
  const unknown = value.filter((id) => !choices.some((choice) => choice.value === id));
  return (
    <MultiSelect
      {...props}
      value={value}
      description={note ?? description}
      searchable
      nothingFoundMessage="No results"
      data={[...choices, ...unknown.map((id) => ({ value: id, label: isLoading ? 'Loading…' : id }))]}
    />
  );
}

/** A name with a value, such as a header. */
export interface Pair {
  name: string;
  value: string;
}

interface PairsProps extends Pick<InputWrapperProps, 'description' | 'error'> {
  label: string;
  value: Pair[];
  onChange: (value: Pair[]) => void;
}

function PairsField({ label, description, error, value, onChange }: PairsProps) {
  return (
    <Input.Wrapper {...{ label, description, error }} size="xs">
      <fieldset className="plain-fields stack" aria-label={label}>
        <Rows
          one="header"
          rows={value}
          onChange={onChange}
          start={{ name: '', value: '' }}
          nameOf={({ name }, index) => name || `header ${index + 1}`}
        >
          {(pair, put, index) => (
            <>
              <TextInput
                aria-label={`Name ${index + 1}`}
                placeholder="X-Tenant"
                value={pair.name}
                onChange={(event) => put({ name: event.currentTarget.value })}
              />
              <TextInput
                aria-label={`Value ${index + 1}`}
                value={pair.value}
                onChange={(event) => put({ value: event.currentTarget.value })}
              />
            </>
          )}
        </Rows>
      </fieldset>
    </Input.Wrapper>
  );
}

interface Options {
  help?: string | undefined;
  /** Of a whole number: the form takes it so; where it is only shown it is `30 s` or `5 MiB`. */
  unit?: Unit | undefined;
  /** Of records. */
  most?: number;
  leaveOut?: readonly string[];
  /** An example. */
  placeholder?: string | undefined;
  /** What an empty field means. */
  empty?: string;
  isRequired?: boolean;
  isFixed?: boolean;
  /** What else a choice changes. */
  onChange?: (value: string) => void;
}

/** A field as data. Its path is a dotted one into the values of the form. */
export type Field = Options & { path: string; label: string } & (
    | { kind: 'text' | 'area' | 'secret' | 'url' | 'date' | 'whole' | 'number' | 'flag' | 'pairs' }
    | { kind: 'choice' | 'choices'; choices: Choices }
    | { kind: 'record' | 'records'; list: Listed }
  );

type Plain = Exclude<Field['kind'], 'choice' | 'choices' | 'record' | 'records'>;
const fieldOf =
  (kind: Plain) =>
  (path: string, label: string, options: Options = {}): Field => ({ path, label, kind, ...options });
const choiceOf =
  (kind: 'choice' | 'choices') =>
  (path: string, label: string, choices: Choices, options: Options = {}): Field => ({
    ...{ path, label, kind, choices },
    ...options,
  });
const recordOf =
  (kind: 'record' | 'records') =>
  (path: string, label: string, list: Listed, options: Options = {}): Field => ({
    ...{ path, label, kind, list },
    ...options,
  });

export const text = fieldOf('text');
export const area = fieldOf('area');
export const secret = fieldOf('secret');
export const url = fieldOf('url');
export const date = fieldOf('date');
export const whole = fieldOf('whole');
export const number = fieldOf('number');
export const flag = fieldOf('flag');
export const pairs = fieldOf('pairs');
export const choice = choiceOf('choice');
export const choices = choiceOf('choices');
export const record = recordOf('record');
export const records = recordOf('records');

interface Section {
  title: string;
  isFolded: boolean;
  fields: Entry[];
}

export const section = (title: string, fields: Entry[]): Section => ({ title, isFolded: false, fields });
/** Closed at first. */
export const folded = (title: string, fields: Entry[]): Section => ({ title, isFolded: true, fields });

/** Something of its own, with the paths whose errors it shows. */
interface Node {
  node: ReactNode;
  paths?: string[];
  /** The same, where it is only shown. */
  facts?: FactValues;
}

/** A field, several beside each other, a section, or something of its own. */
export type Entry = Field | readonly (Field | false)[] | Section | Node | false | null | undefined;

/** Fields, alone or several beside each other. */
export type Lines = readonly (Field | false | readonly (Field | false)[])[];

/** The same fields, of a member of the values. */
export const within = (member: string, lines: Lines): Entry[] => {
  const inside = (field: Field | false) => field && { ...field, path: `${member}.${field.path}` };
  return lines.map((line) => (isSeveral(line) ? line.map(inside) : inside(line)));
};

/** Of a member with secrets in it: one that is stored is shown masked, and stays when it is left so. */
export const withMasks = (member: string, fields: readonly Field[], values: Record<string, unknown>): Entry[] =>
  within(
    member,
    fields.map((field) => {
      if (!String(values[field.path]).startsWith('•')) return field;
      return { ...field, help: [field.help, 'Leave unchanged to keep the current value.'].filter(Boolean).join(' ') };
    }),
  );

/** What is sent of an object: what its fields show. What was left empty has the default of the API, or stays. */
export const sentOf = (lines: Lines, values: object): Record<string, unknown> =>
  Object.fromEntries(
    pathsIn(lines)
      .map((name): [string, unknown] => [name, values[name as never]])
      .filter(([, value]) => value !== '' && value !== null),
  );

interface FieldsProps<Values> {
  form: UseFormReturnType<Values>;
  of: readonly Entry[];
}

export function Fields<Values>({ form, of }: FieldsProps<Values>) {
  return of.map((entry, index) => <Shown key={keyOf(entry, index)} form={form} entry={entry} />);
}

/** Also for TypeScript, to which a list that is read only is no array. */
const isSeveral = (entry: Entry): entry is readonly (Field | false)[] => Array.isArray(entry);

function keyOf(entry: Entry, index: number): string {
  if (!entry) return String(index);
  if (isSeveral(entry)) return pathsIn(entry).join();
  if ('node' in entry) return String(index);
  return 'fields' in entry ? entry.title : entry.path;
}

function Shown<Values>({ form, entry }: { form: UseFormReturnType<Values>; entry: Entry }) {
  if (!entry) return null;
  if (isSeveral(entry))
    return (
      <div className="rule-row field-row">
        <Fields form={form} of={entry} />
      </div>
    );
  if ('node' in entry) return entry.node;
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

/** Of all fields, and of what else shows the errors of a path. */
export const pathsIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => {
    if (!entry) return [];
    if (isSeveral(entry)) return pathsIn(entry);
    if ('node' in entry) return entry.paths ?? [];
    return 'fields' in entry ? pathsIn(entry.fields) : [entry.path];
  });

function One<Values>({ form, of }: { form: UseFormReturnType<Values>; of: Field }) {
  const { path, help: description, unit, placeholder = of.empty } = of;
  const { value, onChange, error } = form.getInputProps(path);
  const label = unit ? `${of.label} (${unit})` : of.label;
  const input = {
    ...{ label, description, error, placeholder, value, onChange },
    ...{ required: of.isRequired ?? false, disabled: of.isFixed ?? false },
  };
  switch (of.kind) {
    case 'flag':
      return <Checkbox {...{ label, description }} {...form.getInputProps(path, { type: 'checkbox' })} />;
    case 'pairs':
      return <PairsField {...input} />;
    case 'whole':
    case 'number':
      return (
        <NumberInput
          {...input}
          clampBehavior="none"
          allowDecimal={of.kind === 'number'}
          value={value ?? ''}
          // The API says what is wrong with one that is out of range.
          onChange={(next) => onChange(next === '' ? null : Number(next))}
        />
      );
    case 'record':
      return <RecordField {...input} list={of.list} />;
    case 'records':
      return <RecordsField {...input} list={of.list} maxValues={of.most} leaveOut={of.leaveOut} />;
    case 'choices':
      return <MultiSelect {...input} searchable data={choicesIn(of.choices)} />;
    case 'choice':
      return (
        <NativeSelect
          {...input}
          data={choicesIn(of.choices)}
          value={value ?? ''}
          onChange={({ currentTarget }) => {
            onChange(currentTarget.value);
            of.onChange?.(currentTarget.value);
          }}
        />
      );
    case 'area':
      return <Textarea {...input} autoComplete="off" autosize minRows={2} />;
    case 'secret':
      // What is typed replaces the mask of a stored secret.
      return <PasswordInput {...input} autoComplete="off" onFocus={(event) => event.currentTarget.select()} />;
    default:
      return <TextInput {...input} autoComplete="off" type={of.kind} />;
  }
}

/** What the form has, where it is only shown. */
export const factsOf = (entries: readonly Entry[], values: object): Fact[] =>
  entries.flatMap((entry): Fact[] => {
    if (!entry) return [];
    if (isSeveral(entry)) return factsOf(entry, values);
    if ('node' in entry) return Object.entries(entry.facts ?? {});
    if ('fields' in entry) return factsOf(entry.fields, values);
    const value = entry.path.split('.').reduce<unknown>((part, name) => part?.[name as never], values);
    const isShown = entry.kind !== 'secret' && !['name', 'description', 'enabled'].includes(entry.path);
    return isShown ? [[entry.label, shownOf(entry, value)]] : [];
  });

function shownOf(field: Field, value: unknown): ReactNode {
  const { kind, unit, empty = '–' } = field;
  if (kind === 'flag') return value ? 'Yes' : 'No';
  const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== null && one !== '');
  if ('list' in field && values.length > 0) return <Names list={field.list} ids={values as string[]} />;
  const labels = 'choices' in field ? choicesIn(field.choices) : [];
  const textOf = (one: unknown): string => {
    if (typeof one === 'number') return unitText(one, unit);
    if (kind === 'pairs') return `${(one as Pair).name}: ${(one as Pair).value}`;
    return labels.find((label) => label.value === one)?.label ?? String(one);
  };
  if (values.length > 0) return plain(values.map(textOf).join(', '));
  return <span className="quiet">{labels[0]?.value === '' ? labels[0].label : empty}</span>;
}

/** The errors that no field of the form shows. */
export function errorsBeside(entries: Entry[], errors: Record<string, ReactNode>): Entry {
  const shown = pathsIn(entries);
  const beside = Object.entries(errors).filter(([path]) => !shown.includes(path));
  if (beside.length === 0) return null;
  return { node: <Problem>{beside.map(([path, error]) => `${path}: ${error}`).join('; ')}</Problem> };
}

/** The first fields of most records. */
export const NAME_FIELDS: Field[] = [text('name', 'Name', { isRequired: true }), text('description', 'Description')];

/** The last one. */
export const enabled = (help?: string) => flag('enabled', 'Enabled', { help });
