// Settings of connections (PostgreSQL manual, chapter 19). They are no start parameters, because poolers refuse those they do not
// know: keep-settings.ts.
import pg from 'pg';

/** By their names. */
export type ConnectionSettings = Readonly<Record<string, string>>;

/** One statement for all of them. @param isLocal for the transaction only */
export function settingStatement(settings: ConnectionSettings, isLocal: boolean): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, ${isLocal})`,
  );
  return `select ${calls.join(', ')}`;
}
