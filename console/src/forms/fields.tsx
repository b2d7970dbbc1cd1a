// Fields that several forms have.
import { Button, Checkbox, Group, MultiSelect, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { useAll } from '../api/all.ts';
import { told } from '../api/errors.ts';
import { plain } from '../format.ts';

export type Listed =
  | 'listSources'
  | 'listDestinations'
  | 'listRoutes'
  | 'listFilters'
  | 'listTransforms'
  | 'listSchemas'
  | 'listApiKeys';
const AT_ONCE = { transitionProps: { duration: 0 } };

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
    ? `The list could not be loaded: ${told(error).message}`
    : data?.isCut
      ? `Only the first ${records.length} are shown.`
      : undefined;
  return { choices, note, isLoading: data === undefined && error === null };
}

interface OneProps {
  label: string;
  description?: string;
  list: Listed;
  value: string | null;
  onChange: (id: string | null) => void;
  error?: React.ReactNode;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  size?: 'xs';
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
      nothingFoundMessage={isLoading ? 'Loading…' : 'Nothing with this name'}
      data={isKnown ? choices : [...choices, { value, label: value }]}
      comboboxProps={AT_ONCE}
    />
  );
}

interface ManyProps {
  label: string;
  description?: string;
  list: Listed;
  value: string[];
  onChange: (ids: string[]) => void;
  error?: React.ReactNode;
  required?: boolean;
  most?: number;
  leaveOut?: readonly string[];
}

/** Several records by their names, in the order in which they were chosen. */
export function RecordsField({ list, description, most, leaveOut, value, ...props }: ManyProps) {
  const { choices, note } = useChoices(list, leaveOut);
  const unknown = value.filter((id) => !choices.some((choice) => choice.value === id));
  return (
    <MultiSelect
      {...props}
      value={value}
      description={note ?? description}
      searchable
      maxValues={most}
      nothingFoundMessage="Nothing with this name"
      data={[...choices, ...unknown.map((id) => ({ value: id, label: id }))]}
      comboboxProps={AT_ONCE}
    />
  );
}

interface WholeProps {
  label: string;
  description?: string;
  value: number | null;
  onChange: (value: number | null) => void;
  error?: React.ReactNode;
  min?: number;
  max?: number;
  /** What an empty field means: it becomes null. */
  placeholder?: string;
}

/** A whole number, or nothing. The API says what is wrong with one that is out of range. */
export function WholeField({ value, onChange, ...props }: WholeProps) {
  return (
    <NumberInput
      {...props}
      clampBehavior="none"
      allowDecimal={false}
      value={value ?? ''}
      onChange={(next) => onChange(next === '' ? null : Number(next))}
    />
  );
}

/** Names with values, such as headers. */
export type Pair = [name: string, value: string];

interface PairsProps {
  label: string;
  description?: string;
  value: Pair[];
  onChange: (value: Pair[]) => void;
  error?: React.ReactNode;
}

export function PairsField({ label, description, value, onChange, error }: PairsProps) {
  const put = (index: number, place: 0 | 1, text: string) =>
    onChange(value.map((pair, at) => (at === index ? (place === 0 ? [text, pair[1]] : [pair[0], text]) : pair)));
  return (
    <fieldset className="fields">
      <legend>{label}</legend>
      {description && (
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      )}
      <Stack gap={6}>
        {value.map(([name, text], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own while they are typed
          <Group key={index} gap="xs" wrap="nowrap">
            <TextInput
              flex={1}
              miw={0}
              aria-label={`Name ${index + 1}`}
              placeholder="X-Tenant"
              value={name}
              onChange={(event) => put(index, 0, event.currentTarget.value)}
            />
            <TextInput
              flex={2}
              miw={0}
              aria-label={`Value ${index + 1}`}
              value={text}
              onChange={(event) => put(index, 1, event.currentTarget.value)}
            />
            <Button
              size="xs"
              variant="default"
              aria-label={`Remove ${name || `row ${index + 1}`}`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          </Group>
        ))}
        {error && (
          <Text size="sm" className="problem" role="alert">
            {error}
          </Text>
        )}
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange([...value, ['', '']])}>
            Add
          </Button>
        </Group>
      </Stack>
    </fieldset>
  );
}

/** Pairs as the API takes them; a row without a name is left out. */
export const recordOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter(([name]) => name !== ''));

/** The name, the description and whether it is on: the first fields of most records. */
export function NameFields<Values extends { name: string; description: string }>({
  form,
}: {
  form: UseFormReturnType<Values>;
}) {
  return (
    <>
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <TextInput label="Description" {...form.getInputProps('description')} />
    </>
  );
}

/** A checkbox of a form, by its path. */
export function FlagField<Values>({
  form,
  path,
  label,
  description,
}: {
  form: UseFormReturnType<Values>;
  path: string;
  label: string;
  description?: string;
}) {
  return <Checkbox label={label} description={description} {...form.getInputProps(path, { type: 'checkbox' })} />;
}
