// Rows of fields that are added and removed, and conditions of a filter as such rows: field, operator, value.
import type { FilterCondition } from '@hookyard/client';
import { Button, NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Cross2Icon, PlusIcon } from '../components/icons.tsx';
import { IconButton, Status } from '../components/ui.tsx';
import { jsonOrNothing } from '../json.ts';
import { sentence, choicesOf, plain } from '../format.ts';

// Rows of fields that are added and removed: headers, conditions, columns.

/** What is wrong, where no field says it. */
export const Problem = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="bad">
    {children}
  </p>
);

interface RowsProps<Row> {
  /** What a row is: `condition`. */
  one: string;
  rows: readonly Row[];
  onChange: (rows: Row[]) => void;
  /** What a row that is added begins with. */
  start: Row;
  /** By default its place. */
  nameOf?: (row: Row, index: number) => string;
  error?: ReactNode;
  help?: ReactNode;
  /** They are only looked at. */
  isFixed?: boolean;
  children: (row: Row, put: (change: Partial<Row>) => void, index: number) => ReactNode;
}

export function Rows<Row extends object>({ one, rows, onChange, start, isFixed = false, ...props }: RowsProps<Row>) {
  const { nameOf = (_, index) => `${one} ${index + 1}`, error, help, children } = props;
  const put = (index: number, change: Partial<Row>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  return (
    <>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own while they are typed
        <fieldset key={index} className="plain-fields rule-row" aria-label={`${sentence(one)} ${index + 1}`}>
          {children(row, (change) => put(index, change), index)}
          {!isFixed && (
            <IconButton
              label={`Remove ${nameOf(row, index)}`}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            >
              <Cross2Icon />
            </IconButton>
          )}
        </fieldset>
      ))}
      {error && <Problem>{error}</Problem>}
      {help && <p className="small quiet">{help}</p>}
      {!isFixed && (
        <div>
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => onChange([...rows, start])}>
            Add {one}
          </Button>
        </div>
      )}
    </>
  );
}

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

interface Props extends Pick<RowsProps<ConditionRow>, 'rows' | 'onChange' | 'error' | 'isFixed'> {
  logic: 'AND' | 'OR';
  onLogic: (logic: 'AND' | 'OR') => void;
  /** About the fields of these events. */
  help?: string | undefined;
  /** Of the last try: which are met, by their place. */
  met?: readonly boolean[] | undefined;
}

export function Conditions({ logic, onLogic, help, met, ...rows }: Props) {
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
        <Rows
          {...rows}
          one="condition"
          start={NEW_ROW}
          help={`${help ?? ''} Text needs no quotes. Values such as 5, true and null are read as JSON. For "in" and "not in", separate values with commas.`}
        >
          {(row, put, index) => (
            <>
              <TextInput
                label="Field"
                placeholder="payload.type, headers.x-shop, method"
                value={row.field}
                onChange={(event) => put({ field: event.currentTarget.value })}
              />
              <NativeSelect
                label="Operator"
                value={row.operator}
                onChange={(event) => put({ operator: event.currentTarget.value as Operator })}
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
                  onChange={(event) => put({ value: event.currentTarget.value })}
                />
              )}
              {met && <Status of={met[index] ? 'success' : 'not_met'} label={met[index] ? 'Met' : 'Not met'} />}
            </>
          )}
        </Rows>
      </div>
    </fieldset>
  );
}
