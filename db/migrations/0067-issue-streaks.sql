-- Failures in a row that are not an issue yet, or belong to one that is: kinds that a retry may mend open an issue after some of them
-- (core/issues.ts), counted over all processes. A success removes the row. Empty texts stand for what the kind does not name.
create table issue_streaks (
  organization_id text collate "C" not null,
  kind text not null,
  source_id text collate "C" not null,
  route_id text collate "C" not null,
  destination_id text collate "C" not null,
  failures bigint not null,
  -- Whether something had worked right before those that were written last.
  restarted boolean not null,
  -- When the first of them failed.
  since timestamptz(3) not null,
  last_at timestamptz(3) not null,
  primary key (organization_id, kind, source_id, route_id, destination_id)
) with (fillfactor = 50);
-- Retention finds those of what neither fails nor works any more.
create index issue_streaks_by_time on issue_streaks (last_at);

-- Issues of no source, route or destination: limits, whose time may pass, and what is counted together.
create index issues_of_none on issues (last_seen_at)
  where source_id is null and route_id is null and destination_id is null and state in ('open', 'acknowledged');

-- In the order in which counting locks them, so that the two do not deadlock.
create or replace function resolve_issues_of_deleted() returns trigger language plpgsql as $$
begin
  execute format('update issues set state = ''resolved'', resolved_at = now(), changed_at = now() where id = any(array(
      select id from issues where %I = $1 and state <> ''resolved''
      order by organization_id, kind, source_id nulls first, route_id nulls first, destination_id nulls first, cause for update))',
    tg_argv[0]) using old.id;
  return null;
end $$;
