// Errors of PostgreSQL go to logs and to Temporal, and some quote values of the statement, such as a header of a webhook or a
// response. Every connection removes these quotes from its errors.
import pg from 'pg';

/** Removes the quoted values from all errors of a pool's connections. */
export function hideQuotedValues(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    if (client instanceof pg.Client) client.connection.prependListener('errorMessage', hide);
  });
}

// PostgreSQL manual, appendix A. Of a data exception the message itself may quote (`invalid input syntax for type integer: "..."`);
// of a violated constraint the detail does (`Failing row contains (...)`), and `where` quotes JSON around a mistake.
function hide(error: unknown): void {
  if (!(error instanceof pg.DatabaseError)) return;
  const { code = '' } = error;
  const isData = code.startsWith('22');
  if (!isData && !code.startsWith('23')) return;
  error.detail = undefined;
  error.where = undefined;
  if (!isData) return;
  error.message = `A value was refused (SQLSTATE ${code})`;
  // The stack begins with the message.
  Error.captureStackTrace(error);
}
