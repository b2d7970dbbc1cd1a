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

export function tellDatabase(
  log: Log,
  { wasFull, isFull }: { wasFull: boolean; isFull: boolean },
  facts: { bytes: number; limit: number },
): void {
  if (isFull && !wasFull) log.error(facts, 'ingest answers 503: the database is full (HOOKYARD_MAX_DATABASE_BYTES)');
  if (!isFull && wasFull) log.info(facts, 'ingest accepts webhooks again: the database has room');
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...all].filter((id) => !others.has(id));
}
