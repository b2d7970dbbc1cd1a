-- Where an organization is told of its issues, and of which (docs/alerts.md).
create table alert_channels (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  name text not null,
  -- A word of core/alerts/channel.ts. No check: a later release may have more.
  type text not null,
  -- Encrypted: address and credentials. Null: a channel of mail, whose addresses are in notify_emails.
  config text,
  -- Encrypted: the secret before the one in config, for as long as both are valid.
  previous_secret text,
  previous_secret_until timestamptz(3),
  -- Named as the column of routes, so that the same trigger notes whom to ask (migration 0039).
  notify_emails text,
  -- Which issues. Null: all; an issue that is about no route is none of any route.
  kinds text[],
  source_ids text[] collate "C",
  route_ids text[] collate "C",
  destination_ids text[] collate "C",
  -- From this count on.
  after_count integer not null default 1 check (after_count >= 1),
  on_acknowledged boolean not null default false,
  on_resolved boolean not null default true,
  -- Minutes between two messages about an issue.
  throttle_minutes integer not null default 0 check (throttle_minutes >= 0),
  -- { "from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin" }: no messages then.
  quiet_hours jsonb,
  -- One message with everything, every so many minutes; null: one message each.
  digest_minutes integer check (digest_minutes >= 1),
  enabled boolean not null default true,
  -- What became of its messages. Since when they were given up, and why the last one was; null after one that arrived.
  failing_since timestamptz(3),
  failed_at timestamptz(3),
  last_error text,
  last_sent_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
) with (fillfactor = 80);
create index alert_channels_by_organization on alert_channels (organization_id, created_at desc, id desc);

create trigger alert_channels_recipients_insert after insert on alert_channels
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger alert_channels_recipients_update after update of notify_emails on alert_channels
  for each row when (new.notify_emails is not null and new.notify_emails is distinct from old.notify_emails)
  execute function note_recipients();
