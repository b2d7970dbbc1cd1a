// Conditions of a filter, as rows: field, operator, value.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { PlusIcon } from '../components/icons.tsx';
import type { FilterCondition } from '@hookyard/client';
import { Status } from '../components/ui.tsx';
import { jsonOrNothing } from '../exact-json.ts';
import { choicesOf, plain } from '../format.ts';
import { RemoveButton } from './fields.tsx';

type Operator = FilterCondition['operator'];
/** With an example of a value; null: without a value. */
const OPERATORS: Partial<Record<Operator, string | null>> = {
  equals: 'order.paid',
  not_equals: 'order.paid',
  in: 'order.paid, order.refunded',
  not_in: 'order.paid, order.refunded',
  contains: 'paid',
  not_contains: 'paid',
  starts_with: 'order.',
  ends_with: '.paid',
  matches: '^order\\.(paid|refunded)$',
  gt: '100',
  gte: '100',
  lt: '100',
  lte: '100',
  exists: null,
  not_exists: null,
};

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
    if (OPERATORS[operator] === null) return { field, operator };
    const parsed = value.trim() === '' ? undefined : jsonOrNothing(value);
    return { field, operator, value: parsed ? parsed.value : value };
  });
}

export const conditionText = ({ field, operator, value }: ConditionRow): string =>
  plain(`${field} ${operator.replaceAll('_', ' ')} ${value}`);

interface Props {
  rows: readonly ConditionRow[];
  onChange: (rows: ConditionRow[]) => void;
  logic: 'AND' | 'OR';
  onLogic: (logic: 'AND' | 'OR') => void;
  error?: React.ReactNode;
  /** About the fields of these events. */
  help?: string | undefined;
  /** They are only looked at. */
  isFixed?: boolean;
  /** Of the last try: which are met, by their place. */
  met?: readonly boolean[] | undefined;
}

export function Conditions({ rows, onChange, logic, onLogic, error, help, met, isFixed = false }: Props) {
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
          data={choicesOf({ AND: 'All conditions', OR: 'Any condition' })}
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
              data={[...new Set([...Object.keys(OPERATORS), row.operator])].map((value) => ({
                value,
                label: value.replaceAll('_', ' '),
              }))}
            />
            {OPERATORS[row.operator] !== null && (
              <TextInput
                label="Value"
                placeholder={OPERATORS[row.operator] ?? undefined}
                value={row.value}
                onChange={(event) => put(index, { value: event.currentTarget.value })}
              />
            )}
            {met && <Status of={met[index] ? 'success' : 'not_met'} label={met[index] ? 'Met' : 'Not met'} />}
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
          {help} Text needs no quotes. Values such as 5, true and null are read as JSON. For "in" and "not in", separate
          values with commas.
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
