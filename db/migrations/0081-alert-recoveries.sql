-- Whoever was told that a channel fails is told when it does not any more (db/alerts/recoveries.ts).
alter table alert_channels
  -- The channel that was told that this one fails, or is being told.
  add column told_channel_id text collate "C" references alert_channels (id) on delete set null,
  -- What fails now and then is not told every minute. Channels that there are keep what was set.
  alter column throttle_minutes set default 15;
create index alert_channels_by_told on alert_channels (told_channel_id) where told_channel_id is not null;
alter table alert_messages drop constraint alert_messages_kind_check;
alter table alert_messages add constraint alert_messages_kind_check check (kind in ('change', 'digest', 'failing', 'recovered'));
