-- Messages to people: whom they go to, and the outbox of those that are to be sent
-- (docs/guide/issues-and-alerts.md).

-- Addresses that routes and alert channels mail to, per organization, and whether their owners have agreed. Written by
-- a trigger, so that no way to change a route forgets it.
create table notification_recipients (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  address text not null,  -- in lower case
  confirmed_at timestamptz(3),  -- when its owner has agreed
  -- When the mail that asks the owner may be sent; null while none is wanted. A claim moves it ahead, like a lease.
  ask_at timestamptz(3),
  asked_at timestamptz(3), asked_count integer not null default 0,
  -- When mails asked the owner, the last five of them: how many mails an address gets is limited, not how many
  -- organizations ask it.
  asked_times timestamptz(3)[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, address)
);
create index notification_recipients_due on notification_recipients (ask_at) where confirmed_at is null;
create index notification_recipients_waiting on notification_recipients (organization_id, ask_at)
  where confirmed_at is null;
create index notification_recipients_asked on notification_recipients (organization_id, asked_at)
  where asked_at is not null;
create index notification_recipients_by_address on notification_recipients (address, asked_at)
  where asked_at is not null;

create function notified_addresses(emails text) returns text[] language sql immutable parallel safe
  return array(
    select distinct lower(btrim(address)) from unnest(string_to_array(emails, ',')) as address
      where btrim(address) <> ''
  );

create function note_recipients() returns trigger language plpgsql as $$
begin
  -- In the order of addresses, so that two routes of an organization that are written at the same time queue.
  insert into notification_recipients (organization_id, address, ask_at)
  select new.organization_id, address, now() from unnest(notified_addresses(new.notify_emails)) as address
    order by address
  on conflict (organization_id, address) do update set ask_at = excluded.ask_at
  where notification_recipients.confirmed_at is null and notification_recipients.asked_at is null
    and notification_recipients.ask_at is null;
  if found then perform pg_notify('hookyard_outbox', 'due'); end if;
  return null;
end $$;
create trigger routes_recipients_insert after insert on routes
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger routes_recipients_update after update of notify_emails on routes for each row
  when (new.notify_emails is not null and new.notify_emails
    is distinct from old.notify_emails) execute function note_recipients();

-- Alert channels: where an organization gets messages about issues, and about which issues.
create table alert_channels (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
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
  throttle_minutes integer not null default 15 check (throttle_minutes >= 0),
  quiet_hours jsonb,  -- { "from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin" }: no messages then
  -- interval between digests, in minutes; null: one message for each change
  digest_minutes integer check (digest_minutes >= 1),
  -- when its last digest was made that left nothing out; null: none yet, or it was given up
  last_digest_at timestamptz(3),
  enabled boolean not null default true,
  -- Since when messages were given up, and why the last one was; null after one that arrived.
  failing_since timestamptz(3), failed_at timestamptz(3), last_error text, last_sent_at timestamptz(3),
  -- The channel that was notified that this channel fails. It is notified again when this channel recovers
  -- (db/messages/alert-channels.ts).
  told_channel_id text collate "C" references alert_channels (id) on delete set null,
  version integer not null default 1, created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
) with (fillfactor = 80);
create index alert_channels_by_organization on alert_channels (organization_id, created_at desc, id desc);
create index alert_channels_by_told on alert_channels (told_channel_id) where told_channel_id is not null;

create trigger alert_channels_wake after insert on alert_channels for each row execute function wake_workers();
create trigger alert_channels_wake_changed after update on alert_channels for each row
  when (old.version is distinct from new.version) execute function wake_workers();
create trigger alert_channels_recipients_insert after insert on alert_channels
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger alert_channels_recipients_update after update of notify_emails on alert_channels for each row
  when (new.notify_emails is not null and new.notify_emails
    is distinct from old.notify_emails) execute function note_recipients();

-- The outbox. Messages are made by one worker at a time; core/messages decides which: mails of routes of the drafts in
-- this table, and messages to alert channels of what is not as they know it (alert_announcements).
--
-- A draft collects outcomes of deliveries until a mail of its route may go, one draft for each kind and destination
-- (the primary one, where a failover destination stood in). It is written in the statement that ends a delivery, so a
-- notification is as durable as the result it reports. A draft of a recovery begins with a failure and waits for a
-- success: a healthy route writes none.
create table messages (
  id text collate "C" primary key, organization_id text collate "C" not null,
  kind text not null check (kind in ('failure', 'recovery', 'success', 'change', 'digest', 'failing', 'recovered')),
  -- The first three kinds go to the addresses of a route. No foreign key: recording a result must not fail when its
  -- route is deleted at the same moment.
  route_id text collate "C", channel_id text collate "C" references alert_channels (id) on delete cascade,
  -- What it says, the same in every try: a RouteMail of core/messages/route-mails.ts; or the changes of issues, each a
  -- AnnouncedChange of core/messages/announcements.ts. Null: a draft.
  content jsonb,
  -- Of a draft: deliveries (those of a recovery have failed), when the first and the last of them ended, and facts of
  -- the latest; of a recovery, of the latest that succeeded.
  destination_id text collate "C", count integer, since timestamptz(3), last_at timestamptz(3), facts jsonb,
  -- Of `failing` and `recovered`: the channel that they are about, and those that could not be notified of it.
  failing_channel_id text collate "C", tried_channel_ids text[] collate "C" not null default '{}',
  -- When a worker looks at it: may the draft be sent, its workflow be started, a mail that was sent be forgotten? A
  -- claim moves it ahead, like a lease. Null: with the next success.
  due_at timestamptz(3) default now() check (due_at is not null or (kind = 'recovery' and content is null)),
  tried_at timestamptz(3),  -- when it was tried first
  sent_at timestamptz(3),  -- of a mail of a route: when it was finished. It stays until the next may go
  created_at timestamptz(3) not null default now(),
  check ((route_id is null) <> (channel_id is null))
) with (fillfactor = 50);
create unique index messages_drafts on messages (route_id, kind, destination_id) where content is null;
create index messages_by_route on messages (route_id, kind) where route_id is not null;
create index messages_by_channel on messages (channel_id) where channel_id is not null;
create index messages_due on messages (due_at) where due_at is not null;
create index messages_by_creation on messages (created_at);  -- those of a clock that has been set back since
create trigger messages_wake after insert on messages
  for each row when (new.channel_id is not null) execute function wake_workers();

-- Notes ended deliveries of routes that notify (db/messages/route-mails.ts). Statements call it only when there is such
-- a delivery, so all others only pay for the look at their route. Takes an array of objects with the members of `o`
-- below. Rows are upserted in the order of their key; should two callers deadlock all the same, one of their statements
-- is rolled back whole and repeated. In PL/pgSQL, which keeps its plans; what becomes of drafts is decided elsewhere.
create function note_outcomes(outcomes jsonb) returns boolean language plpgsql as $$
begin
  insert into messages as m (id, organization_id, kind, route_id, destination_id, count, since, last_at, facts, due_at)
  select k.kind || '.' || min(o.facts ->> 'delivery_id'), min(o.organization_id), k.kind, o.route_id, o.primary_id,
         count(*), min(o.at), max(o.at),
         case when k.kind <> 'recovery' then (array_agg(o.facts order by o.at desc))[1] end,
         case when k.kind <> 'recovery' then now() end
  from jsonb_to_recordset(outcomes) as o(organization_id text, route_id text, primary_id text, status text,
    at timestamptz, facts jsonb, on_failure boolean, on_success boolean, on_recovery boolean)
  cross join lateral (values
    ('failure', o.status = 'failed' and o.on_failure), ('success', o.status = 'delivered' and o.on_success),
    ('recovery', o.status = 'failed' and o.on_recovery)
  ) as k(kind, is_noted)
  where k.is_noted group by o.route_id, k.kind, o.primary_id order by o.route_id, k.kind, o.primary_id
  on conflict (route_id, kind, destination_id) where content is null do update
    set count = m.count + excluded.count, last_at = greatest(m.last_at, excluded.last_at),
        facts = coalesce(excluded.facts, m.facts), due_at = coalesce(m.due_at, excluded.due_at);
  -- Only the first success since the last failure, or since the circuit has closed, so that others write nothing.
  update messages m
  set facts = s.facts || jsonb_build_object('circuit_open',
        exists (select from circuits c where c.route_id = m.route_id and c.state <> 'closed')), due_at = now()
  from (
    select distinct on (o.route_id, o.primary_id) o.*
    from jsonb_to_recordset(outcomes) as o(route_id text, primary_id text, status text, at timestamptz, facts jsonb,
      on_recovery boolean)
    where o.status = 'delivered' and o.on_recovery order by o.route_id, o.primary_id, o.at desc
  ) s
  where m.route_id = s.route_id and m.kind = 'recovery' and m.destination_id = s.primary_id and m.content is null
    and (m.facts is null or (m.facts ->> 'at')::timestamptz < m.last_at or m.facts -> 'circuit_open' = 'true');
  return true;
end $$;

-- What a route no longer notifies of is forgotten, and all of it with the route.
create function forget_messages() returns trigger language plpgsql as $$
begin
  delete from messages where route_id = old.id and (tg_op = 'DELETE' or kind = 'recovery');
  return null;
end $$;
create trigger routes_forget_messages after delete on routes for each row execute function forget_messages();
create trigger routes_forget_recoveries after update of notify_on_recovery on routes
  for each row when (not new.notify_on_recovery) execute function forget_messages();

create table alert_announcements (
  channel_id text collate "C" not null references alert_channels (id) on delete cascade,
  issue_id text collate "C" not null references issues (id) on delete cascade,
  organization_id text collate "C" not null,
  -- The last change that the channel was notified of: opened, acknowledged, resolved, ignored. Null: none, the message
  -- was given up.
  announced text, announced_at timestamptz(3) not null,
  -- whether it was told that a delivery has failed for good (issues.exhausted_at)
  announced_exhausted boolean not null default false,
  -- The one on its way; there is no other until it has arrived or was given up, so they keep their order.
  message_id text collate "C" references messages (id) on delete set null,
  primary key (channel_id, issue_id)
);
create index alert_announcements_live on alert_announcements (channel_id, issue_id) where announced
  in ('opened', 'acknowledged');
create index alert_announcements_by_issue on alert_announcements (issue_id);
create index alert_announcements_by_message on alert_announcements (message_id) where message_id is not null;
