// Conditions of a filter, as rows: field, operator, value.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { PlusIcon } from '../components/icons.tsx';
import type { FilterCondition } from '@hookyard/client';
import { Status } from '../components/ui.tsx';
import { jsonOrNothing } from '../exact-json.ts';
import { RemoveButton } from './fields.tsx';

const OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
  'not_exists',
] as const;
type Operator = FilterCondition['operator'];
const WITHOUT_VALUE: readonly string[] = ['exists', 'not_exists'];

/** A condition while it is typed: the value as the text of its field. */
export interface ConditionRow {
  field: string;
  operator: Operator;
  value: string;
}

export const NEW_ROW: ConditionRow = { field: 'payload.', operator: 'equals', value: '' };

/**
 * Numbers, booleans, null and lists are written as JSON; any other text is itself, one that reads as JSON stands in
 * quotes.
 */
export function rowsOf(conditions: readonly FilterCondition[]): ConditionRow[] {
  return conditions.map(({ field, operator, value }) => ({ field, operator, value: textOf(value) }));
}
function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && value !== '' && jsonOrNothing(value) === undefined) return value;
  return JSON.stringify(value) ?? '';
}

export function conditionsOf(rows: readonly ConditionRow[]): FilterCondition[] {
  return rows.map(({ field, operator, value }) => {
    if (WITHOUT_VALUE.includes(operator)) return { field, operator };
    const parsed = value.trim() === '' ? undefined : jsonOrNothing(value);
    return { field, operator, value: parsed ? parsed.value : value };
  });
}

interface Props {
  rows: readonly ConditionRow[];
  onChange: (rows: ConditionRow[]) => void;
  logic: 'AND' | 'OR';
  onLogic: (logic: 'AND' | 'OR') => void;
  error?: React.ReactNode;
  /** They are only looked at. */
  isFixed?: boolean;
  /** Of the last try: which are met, by their place. */
  met?: readonly boolean[] | undefined;
}

export function Conditions({ rows, onChange, logic, onLogic, error, met, isFixed = false }: Props) {
  const put = (index: number, change: Partial<ConditionRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  return (
    <fieldset className="fields">
      <legend>Conditions</legend>
      <div className="stack">
        <NativeSelect
          label="Match"
          value={logic}
          onChange={(event) => onLogic(event.currentTarget.value as 'AND' | 'OR')}
          data={[
            { value: 'AND', label: 'All conditions' },
            { value: 'OR', label: 'Any condition' },
          ]}
        />
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
          <fieldset key={index} className="plain-fields rule-row" aria-label={`Condition ${index + 1}`}>
            <TextInput
              label="Field"
              placeholder="payload.type, headers.x-shop, method"
              value={row.field}
              onChange={(event) => put(index, { field: event.currentTarget.value })}
            />
            <NativeSelect
              label="Operator"
              value={row.operator}
              onChange={(event) => put(index, { operator: event.currentTarget.value as Operator })}
              data={[...new Set<string>([...OPERATORS, row.operator])].map((value) => ({
                value,
                label: value.replaceAll('_', ' '),
              }))}
            />
            {!WITHOUT_VALUE.includes(row.operator) && (
              <TextInput
                label="Value"
                value={row.value}
                onChange={(event) => put(index, { value: event.currentTarget.value })}
              />
            )}
            {met && <Status of={met[index] ? 'success' : 'failed'} label={met[index] ? 'Met' : 'Not met'} />}
            {!isFixed && (
              <RemoveButton
                label={`Remove condition ${index + 1}`}
                onClick={() => onChange(rows.filter((_, at) => at !== index))}
              />
            )}
          </fieldset>
        ))}
        {error && (
          <p role="alert" className="bad">
            {error}
          </p>
        )}
        <p className="small quiet">
          Values are read as JSON: 5, true, null, ["a", "b"]. Put a number in quotes to compare text.
        </p>
        {!isFixed && (
          <div>
            <Button variant="default" leftSection={<PlusIcon />} onClick={() => onChange([...rows, NEW_ROW])}>
              Add condition
            </Button>
          </div>
        )}
      </div>
    </fieldset>
  );
}
