// Statements with their values in place: each `${value}` becomes a parameter.
import type pg from 'pg';
import type { Queryable } from '../../../db/connections/pool.ts';

/** Runs a statement. @returns the result of node-postgres */
export const execute =
  <Row extends pg.QueryResultRow>(db: Queryable) =>
  (texts: TemplateStringsArray, ...values: unknown[]): Promise<pg.QueryResult<Row>> =>
    db.query<Row>(
      texts.reduce((text, next, number) => `${text}$${number}${next}`),
      values.length > 0 ? values : undefined,
    );

export const selectRows =
  <Row extends pg.QueryResultRow>(db: Queryable) =>
  async (...statement: Statement): Promise<Row[]> =>
    (await execute<Row>(db)(...statement)).rows;

/** The first column of every row. */
export const selectColumn =
  <Value>(db: Queryable) =>
  async (...statement: Statement): Promise<Value[]> =>
    (await selectRows<Record<string, Value>>(db)(...statement)).map((row) => Object.values(row)[0] as Value);

/**
 * The first column of the first row.
 * @throws Error when there is no row
 */
export const selectValue =
  <Value>(db: Queryable) =>
  async (...statement: Statement): Promise<Value> => {
    const values = await selectColumn<Value>(db)(...statement);
    if (values.length === 0) throw new Error(`no row: ${statement[0].join('?')}`);
    return values[0] as Value;
  };

/** The first column of the first row; null: there is no row. */
export const findValue =
  <Value>(db: Queryable) =>
  async (...statement: Statement): Promise<Value | null> =>
    (await selectColumn<Value>(db)(...statement))[0] ?? null;

type Statement = [texts: TemplateStringsArray, ...values: unknown[]];
