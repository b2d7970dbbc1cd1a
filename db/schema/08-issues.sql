-- One row per (kind, source, route, destination, cause), for the organization to see and to be alerted of. Processes
-- count failures in memory and write them about once a second in one statement (db/issues/record-issues.ts); circuits
-- write theirs with the change of the circuit. A failure after `resolved` opens a new row, or soon after it the last
-- one again. No foreign keys: the history of a route that was deleted stays until retention removes it.
create table issues (
  id text collate "C" primary key, organization_id text collate "C" not null,
  kind text not null,  -- a word of core/messages/issues.ts
  source_id text collate "C", route_id text collate "C", destination_id text collate "C",
  cause text not null,  -- a short stable code: HTTP_500, TIMEOUT, the name of a limit
  state text not null default 'open' check (state in ('open', 'acknowledged', 'resolved', 'ignored')),
  -- Of the failures that it counts; the first ones may have come before it opened.
  first_seen_at timestamptz(3) not null, last_seen_at timestamptz(3) not null,
  count bigint not null,
  sample_event_id text collate "C", sample_delivery_id text collate "C",
  opened_at timestamptz(3) not null default now(), resolved_at timestamptz(3),
  changed_at timestamptz(3) not null default now(),  -- when the state changed last
  -- What failed has worked since; null: nothing has worked since the last failure. When it has lasted, the issue is
  -- resolved.
  recovered_at timestamptz(3),
  -- when a delivery first failed for good since it opened; null: none; channels are then told once more
  exhausted_at timestamptz(3)
) with (fillfactor = 70);
-- At most one that is not resolved; the statements that count find it by this index.
create unique index issues_unresolved on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause)
  where state <> 'resolved';
-- A failure soon after `resolved` opens the last issue of its key again, found by this index.
create index issues_resolved_lately on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause,
    resolved_at desc)
  where state = 'resolved';
create index issues_by_organization on issues (organization_id, id desc);  -- lists, the latest first
create index issues_recovered on issues (recovered_at) where recovered_at is not null and state
  in ('open', 'acknowledged');
create index issues_resolved on issues (resolved_at) where state = 'resolved';  -- retention finds what is old
create index issues_by_source on issues (source_id) where state <> 'resolved' and source_id is not null;
create index issues_by_route on issues (route_id) where state <> 'resolved' and route_id is not null;
create index issues_by_destination on issues (destination_id) where state <> 'resolved' and destination_id is not null;
-- Issues of no source, route or destination: limits, whose time may pass, and what is counted together.
create index issues_of_none on issues (last_seen_at)
  where source_id is null and route_id is null and destination_id is null and state in ('open', 'acknowledged');
create trigger issues_wake after insert on issues for each row execute function wake_workers();
create trigger issues_wake_changed after update on issues for each row
  when (old.state is distinct from new.state or old.exhausted_at
    is distinct from new.exhausted_at) execute function wake_workers();

-- In the order in which counting locks them, so that the two do not deadlock.
create function resolve_issues_of_deleted() returns trigger language plpgsql as $$
begin
  execute format('update issues set state = ''resolved'', resolved_at = now(), changed_at = now() where id = any(array(
      select id from issues where %I = $1 and state <> ''resolved''
      order by organization_id, kind, source_id nulls first, route_id nulls first, destination_id nulls first, cause
        for update))',
    tg_argv[0]) using old.id;
  return null;
end $$;
create trigger sources_resolve_issues after delete on sources
  for each row execute function resolve_issues_of_deleted('source_id');
create trigger routes_resolve_issues after delete on routes
  for each row execute function resolve_issues_of_deleted('route_id');
create trigger destinations_resolve_issues after delete on destinations
  for each row execute function resolve_issues_of_deleted('destination_id');

-- Failures in a row that are not an issue yet, or belong to one that is: kinds that a retry may mend open an issue
-- after some of them (core/messages/issues.ts), counted over all processes. A success removes the row. Empty texts
-- stand for what the kind does not name.
create table issue_streaks (
  organization_id text collate "C" not null, kind text not null, source_id text collate "C" not null,
  route_id text collate "C" not null, destination_id text collate "C" not null, failures bigint not null,
  restarted boolean not null,  -- whether something had worked right before those that were written last
  since timestamptz(3) not null,  -- when the first of them failed
  last_at timestamptz(3) not null,
  primary key (organization_id, kind, source_id, route_id, destination_id)
) with (fillfactor = 50);
create index issue_streaks_by_time on issue_streaks (last_at);
