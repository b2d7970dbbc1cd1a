// What the log says when ingest closes and opens: one line for each change.
import type { Admission } from '../../core/backlog-limit.ts';
import type { Log } from '../../core/log.ts';

const NAMED_IN_LOG = 10;

export function tellBacklog(
  log: Log,
  before: Admission,
  now: Admission,
  facts: { limit: number; waiting: number },
): void {
  if (now.full && !before.full)
    log.error(facts, 'ingest answers 503: as many deliveries wait as may (HOOKYARD_MAX_BACKLOG)');
  if (!now.full && before.full) log.info(facts, 'ingest accepts webhooks again: the backlog has room');
  tellOf(log, 'organizations', before.fullOrganizations, now.fullOrganizations, facts);
  tellOf(log, 'destinations', before.fullDestinations, now.fullDestinations, facts);
}

function tellOf(
  log: Log,
  what: 'organizations' | 'destinations',
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
  facts: object,
): void {
  const named = (ids: string[]) => ({ ...facts, [what]: ids.slice(0, NAMED_IN_LOG), count: ids.length });
  const closing = without(now, before);
  const opening = without(before, now);
  if (closing.length > 0) {
    const whose = what === 'organizations' ? 'webhooks of these organizations' : 'what goes to these destinations';
    log.warn(named(closing), `ingest answers 503 to ${whose}: too much waits`);
  }
  if (opening.length > 0) log.info(named(opening), `ingest accepts webhooks for these ${what} again`);
}

interface DatabaseState {
  isFull: boolean;
  /** Organizations that hold more of it than they may. */
  fullOf: ReadonlySet<string>;
}

export function tellDatabase(
  log: Log,
  before: DatabaseState,
  now: DatabaseState,
  facts: { bytes: number; limit: number },
): void {
  if (now.isFull && !before.isFull)
    log.error(facts, 'ingest answers 503: the database is full (HOOKYARD_MAX_DATABASE_BYTES)');
  if (!now.isFull && before.isFull) log.info(facts, 'ingest accepts webhooks again: the database has room');
  const closing = without(now.fullOf, before.fullOf);
  const opening = without(before.fullOf, now.fullOf);
  const named = (ids: string[]) => ({ ...facts, organizations: ids.slice(0, NAMED_IN_LOG), count: ids.length });
  if (closing.length > 0)
    log.warn(named(closing), 'ingest answers 503 to organizations that hold most of a database that is nearly full');
  if (opening.length > 0)
    log.info(named(opening), 'ingest accepts webhooks again of organizations that held most of the database');
}

export function tellNoLimit(log: Log): void {
  log.warn(
    'organizations share a database without a limit, so that one can fill the disk of all; set HOOKYARD_MAX_DATABASE_BYTES',
  );
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...all].filter((id) => !others.has(id));
}
