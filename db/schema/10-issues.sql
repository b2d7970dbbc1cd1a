-- Issues, failures that last (docs/issues.md), and the alert channels that are told of them (docs/alerts.md).

-- One row per (kind, source, route, destination, cause), for the organization to see and to be alerted of. Processes count failures
-- in memory and write them about once a second in one statement (db/issues/record.ts); circuits write theirs with the change of the
-- circuit. A failure after `resolved` opens a new row, or soon after it the last one again. No foreign keys: the history of a route
-- that was deleted stays until retention removes it.
create table issues (
  id text collate "C" primary key, organization_id text collate "C" not null,
  kind text not null,  -- a word of core/messages/issues.ts
  source_id text collate "C", route_id text collate "C", destination_id text collate "C",
  cause text not null,  -- a short stable code: HTTP_500, TIMEOUT, the name of a limit
  state text not null default 'open' check (state in ('open', 'acknowledged', 'resolved', 'ignored')),
  -- Of the failures that it counts; the first ones may have come before it opened.
  first_seen_at timestamptz(3) not null, last_seen_at timestamptz(3) not null,
  count bigint not null,
  -- Of the last failure that had one.
  sample_event_id text collate "C", sample_delivery_id text collate "C",
  opened_at timestamptz(3) not null default now(), resolved_at timestamptz(3),
  changed_at timestamptz(3) not null default now(),  -- when the state changed last
  -- What failed has worked since; null: nothing has worked since the last failure. When it has lasted, the issue is resolved.
  recovered_at timestamptz(3),
  exhausted_at timestamptz(3)  -- when a delivery first failed for good since it opened; null: none; channels are then told once more
) with (fillfactor = 70);
-- At most one that is not resolved; the statements that count find it by this index.
create unique index issues_unresolved on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause)
  where state <> 'resolved';
-- A failure soon after `resolved` opens the last issue of its key again, found by this index.
create index issues_resolved_lately on issues
  (organization_id, kind, coalesce(source_id, ''), coalesce(route_id, ''), coalesce(destination_id, ''), cause, resolved_at desc)
  where state = 'resolved';
create index issues_by_organization on issues (organization_id, id desc);  -- lists, the latest first
-- What has recovered is resolved after a while.
create index issues_recovered on issues (recovered_at) where recovered_at is not null and state in ('open', 'acknowledged');
create index issues_resolved on issues (resolved_at) where state = 'resolved';  -- retention finds what is old
-- What is deleted has no issues any more.
create index issues_by_source on issues (source_id) where state <> 'resolved' and source_id is not null;
create index issues_by_route on issues (route_id) where state <> 'resolved' and route_id is not null;
create index issues_by_destination on issues (destination_id) where state <> 'resolved' and destination_id is not null;
-- Issues of no source, route or destination: limits, whose time may pass, and what is counted together.
create index issues_of_none on issues (last_seen_at)
  where source_id is null and route_id is null and destination_id is null and state in ('open', 'acknowledged');
create trigger issues_wake after insert on issues for each row execute function wake_workers();
create trigger issues_wake_changed after update on issues for each row
  when (old.state is distinct from new.state or old.exhausted_at is distinct from new.exhausted_at) execute function wake_workers();

-- In the order in which counting locks them, so that the two do not deadlock.
create function resolve_issues_of_deleted() returns trigger language plpgsql as $$
begin
  execute format('update issues set state = ''resolved'', resolved_at = now(), changed_at = now() where id = any(array(
      select id from issues where %I = $1 and state <> ''resolved''
      order by organization_id, kind, source_id nulls first, route_id nulls first, destination_id nulls first, cause for update))',
    tg_argv[0]) using old.id;
  return null;
end $$;
create trigger sources_resolve_issues after delete on sources for each row execute function resolve_issues_of_deleted('source_id');
create trigger routes_resolve_issues after delete on routes for each row execute function resolve_issues_of_deleted('route_id');
create trigger destinations_resolve_issues after delete on destinations
  for each row execute function resolve_issues_of_deleted('destination_id');

-- Failures in a row that are not an issue yet, or belong to one that is: kinds that a retry may mend open an issue after some of them
-- (core/messages/issues.ts), counted over all processes. A success removes the row. Empty texts stand for what the kind does not name.
create table issue_streaks (
  organization_id text collate "C" not null, kind text not null, source_id text collate "C" not null,
  route_id text collate "C" not null, destination_id text collate "C" not null, failures bigint not null,
  restarted boolean not null,  -- whether something had worked right before those that were written last
  since timestamptz(3) not null,  -- when the first of them failed
  last_at timestamptz(3) not null,
  primary key (organization_id, kind, source_id, route_id, destination_id)
) with (fillfactor = 50);
create index issue_streaks_by_time on issue_streaks (last_at);  -- retention finds those of what neither fails nor works any more

-- Alert channels: where an organization gets messages about issues, and about which issues.
create table alert_channels (
  id text collate "C" primary key, organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  type text not null,  -- a word of core/messages/channel.ts
  config text,  -- encrypted: address and credentials. Null: a channel of mail, whose addresses are in notify_emails
  -- Encrypted: the secret before the one in config, for as long as both are valid.
  previous_secret text, previous_secret_until timestamptz(3),
  notify_emails text,  -- named as the column of routes, so that the same trigger notes whom to ask (note_recipients)
  -- Which issues; null: all. An issue that is about no route is none of any route.
  kinds text[], source_ids text[] collate "C", route_ids text[] collate "C", destination_ids text[] collate "C",
  after_count integer not null default 1 check (after_count >= 1),  -- from this count on
  on_acknowledged boolean not null default false, on_resolved boolean not null default true,
  throttle_minutes integer not null default 15 check (throttle_minutes >= 0),  -- minutes between two messages about an issue
  quiet_hours jsonb,  -- { "from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin" }: no messages then
  digest_minutes integer check (digest_minutes >= 1),  -- interval between digests, in minutes; null: one message for each change
  last_digest_at timestamptz(3),  -- when its last digest was made that left nothing out; null: none yet, or it was given up
  enabled boolean not null default true,
  -- Since when messages were given up, and why the last one was; null after one that arrived.
  failing_since timestamptz(3), failed_at timestamptz(3), last_error text, last_sent_at timestamptz(3),
  -- The channel that was notified that this channel fails. It is notified again when this channel recovers (db/alerts/recoveries.ts).
  told_channel_id text collate "C" references alert_channels (id) on delete set null,
  version integer not null default 1, created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now()
) with (fillfactor = 80);
create index alert_channels_by_organization on alert_channels (organization_id, created_at desc, id desc);
create index alert_channels_by_told on alert_channels (told_channel_id) where told_channel_id is not null;

create trigger alert_channels_wake after insert on alert_channels for each row execute function wake_workers();
create trigger alert_channels_wake_changed after update on alert_channels for each row
  when (old.version is distinct from new.version) execute function wake_workers();
create trigger alert_channels_recipients_insert after insert on alert_channels
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger alert_channels_recipients_update after update of notify_emails on alert_channels for each row
  when (new.notify_emails is not null and new.notify_emails is distinct from old.notify_emails) execute function note_recipients();

-- A message that is to be sent. Its row goes when it was sent or given up. A worker compares issues with what was told
-- (db/alerts/due.ts): so a change that nobody has noted is found as well, and one that was undone meanwhile is not told.
create table alert_messages (
  id text collate "C" primary key, organization_id text collate "C" not null,
  channel_id text collate "C" not null references alert_channels (id) on delete cascade,
  kind text not null check (kind in ('change', 'digest', 'failing', 'recovered')),
  -- [{ "issueId", "change", "number", "before" }]: the announced changes; `before` is the previous announcement.
  changes jsonb not null,
  -- Of `failing`: the channel that fails, and those that could not be told of it.
  failing_channel_id text collate "C", tried_channel_ids text[] collate "C" not null default '{}',
  tried_at timestamptz(3),  -- when it was tried first
  -- When a worker starts its workflow; a claim moves it ahead, like a lease.
  due_at timestamptz(3) not null default now(), created_at timestamptz(3) not null default now()
);
create index alert_messages_due on alert_messages (due_at);
create index alert_messages_by_channel on alert_messages (channel_id);
create index alert_messages_by_creation on alert_messages (created_at);  -- those of a clock that has been set back since
create trigger alert_messages_wake after insert on alert_messages for each row execute function wake_workers();

-- What channels have been told of issues.
create table alert_announcements (
  channel_id text collate "C" not null references alert_channels (id) on delete cascade,
  issue_id text collate "C" not null references issues (id) on delete cascade, organization_id text collate "C" not null,
  -- The last change that it was told: opened, acknowledged, resolved, ignored. Null: none, the message was given up.
  told text, told_at timestamptz(3) not null,
  told_exhausted boolean not null default false,  -- whether it was told that a delivery has failed for good (issues.exhausted_at)
  number integer not null,  -- messages so far; with the channel and the issue, the name of a message
  -- The one on its way; there is no other until it has arrived or was given up, so they keep their order.
  message_id text collate "C" references alert_messages (id) on delete set null,
  primary key (channel_id, issue_id)
);
-- Those whose end is still to be told.
create index alert_announcements_live on alert_announcements (channel_id, issue_id) where told in ('opened', 'acknowledged');
create index alert_announcements_by_issue on alert_announcements (issue_id);
create index alert_announcements_by_message on alert_announcements (message_id) where message_id is not null;

-- Whether it is within the quiet hours of a channel. A time zone that this PostgreSQL does not know is no reason to tell nobody.
create function is_quiet(hours jsonb, at timestamptz) returns boolean language plpgsql stable as $$
declare
  clock time;
  begins time;
  ends time;
begin
  if hours is null then return false; end if;
  clock := (at at time zone (hours ->> 'timeZone'))::time;
  begins := (hours ->> 'from')::time;
  ends := (hours ->> 'to')::time;
  if begins < ends then return clock >= begins and clock < ends; end if;
  return clock >= begins or clock < ends;
exception when invalid_parameter_value then return false;
end $$;
