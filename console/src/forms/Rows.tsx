// Rows of fields that are added and removed: headers, conditions, columns.
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Cross2Icon, PlusIcon } from '../components/icons.tsx';
import { IconButton } from '../components/ui.tsx';
import { sentence } from '../format.ts';

/** What is wrong, where no field says it. */
export const Problem = ({ children }: { children: ReactNode }) => (
  <p role="alert" className="bad">
    {children}
  </p>
);

export interface RowsProps<Row> {
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
