-- What keeps alerts going when channels fail and clocks jump (db/alerts).
alter table alert_channels
  -- When its last digest was made that left nothing out; null: none yet, or it was given up.
  add column last_digest_at timestamptz(3);
alter table alert_messages
  -- Of `failing`: the channels that could not be told.
  add column tried_channel_ids text[] collate "C" not null default '{}',
  -- When it was tried first.
  add column tried_at timestamptz(3);
-- Those of a clock that has been set back since.
create index alert_messages_by_creation on alert_messages (created_at);
