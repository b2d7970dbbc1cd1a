-- Failures that last, one row per (kind, source, route, destination, cause), for the organization to see and to be alerted of
-- (docs/issues.md). Processes count failures in memory and write them about once a second in one statement (db/issues/record.ts);
-- circuits write theirs with the change of the circuit. A failure after `resolved` opens a new row. No foreign keys: the history of
-- a route that was deleted stays until retention removes it.
create table issues (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  -- A word of core/issues.ts. No check: a later release may have more.
  kind text not null,
  source_id text collate "C",
  route_id text collate "C",
  destination_id text collate "C",
  -- A short stable code: HTTP_500, TIMEOUT, the name of a limit.
  cause text not null,
  state text not null default 'open' check (state in ('open', 'acknowledged', 'resolved', 'ignored')),
  -- Of the failures that it counts; the first ones may have come before it opened.
  first_seen_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  count bigint not null,
  -- Of the last failure that had one.
  sample_event_id text collate "C",
  sample_delivery_id text collate "C",
  opened_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3),
  -- When the state changed last.
  changed_at timestamptz(3) not null default now(),
  -- What failed has worked since; null: nothing has worked since the last failure. When it has lasted, the issue is resolved.
  recovered_at timestamptz(3)
) with (fillfactor = 70);
-- At most one that is not resolved; the statements that count find it by this index.
create unique index issues_unresolved on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause)
  where state <> 'resolved';
-- Lists, the latest first.
create index issues_by_organization on issues (organization_id, id desc);
-- What has recovered is resolved after a while.
create index issues_recovered on issues (recovered_at) where recovered_at is not null and state in ('open', 'acknowledged');
-- Retention finds what is old.
create index issues_resolved on issues (resolved_at) where state = 'resolved';
-- What is deleted has no issues any more.
create index issues_by_source on issues (source_id) where state <> 'resolved' and source_id is not null;
create index issues_by_route on issues (route_id) where state <> 'resolved' and route_id is not null;
create index issues_by_destination on issues (destination_id) where state <> 'resolved' and destination_id is not null;

create function resolve_issues_of_deleted() returns trigger language plpgsql as $$
begin
  execute format('update issues set state = ''resolved'', resolved_at = now(), changed_at = now() where %I = $1 and state <> ''resolved''',
                 tg_argv[0]) using old.id;
  return null;
end $$;
create trigger sources_resolve_issues after delete on sources for each row execute function resolve_issues_of_deleted('source_id');
create trigger routes_resolve_issues after delete on routes for each row execute function resolve_issues_of_deleted('route_id');
create trigger destinations_resolve_issues after delete on destinations
  for each row execute function resolve_issues_of_deleted('destination_id');
