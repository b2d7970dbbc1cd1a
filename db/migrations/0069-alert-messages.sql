-- What channels have been told, and the messages on their way (docs/alerts.md). A worker compares issues with what was told
-- (db/alerts/due.ts): so a change that nobody has noted is found as well, and one that was undone meanwhile is not told.

-- A message that is to be sent. Its row goes when it was sent or given up.
create table alert_messages (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  channel_id text collate "C" not null references alert_channels (id) on delete cascade,
  kind text not null check (kind in ('change', 'digest', 'failing')),
  -- [{ "issueId", "change", "number", "before" }]: what is told; before: what the channel had been told of the issue.
  changes jsonb not null,
  -- Of `failing`: the channel that fails.
  failing_channel_id text collate "C",
  -- When a worker starts its workflow; a claim moves it ahead, like a lease.
  due_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now()
);
create index alert_messages_due on alert_messages (due_at);
create index alert_messages_by_channel on alert_messages (channel_id);

create table alert_announcements (
  channel_id text collate "C" not null references alert_channels (id) on delete cascade,
  issue_id text collate "C" not null references issues (id) on delete cascade,
  organization_id text collate "C" not null,
  -- The last change that it was told: opened, acknowledged, resolved, ignored. Null: none, the message was given up.
  told text,
  told_at timestamptz(3) not null,
  -- How many messages there were: with the channel and the issue the name of a message.
  number integer not null,
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
