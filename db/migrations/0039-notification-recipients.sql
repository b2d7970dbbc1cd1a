-- Addresses that routes notify by mail, per organization, and whether their owners want that. Written by a trigger, so that no way to
-- change a route forgets it.

create function notified_addresses(emails text) returns text[] language sql immutable parallel safe
  return array(
    select distinct lower(btrim(address)) from unnest(string_to_array(emails, ',')) as address where btrim(address) <> ''
  );

create table notification_recipients (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- In lower case.
  address text not null,
  -- When its owner has agreed.
  confirmed_at timestamptz(3),
  -- When the mail that asks the owner may be sent; null while none is wanted. A claim moves it ahead, like a lease.
  ask_at timestamptz(3),
  -- The last try to send it, and how many were sent.
  asked_at timestamptz(3),
  asked_count integer not null default 0,
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, address)
);
create index notification_recipients_due on notification_recipients (ask_at) where confirmed_at is null;
-- The limits of such mails.
create index notification_recipients_asked on notification_recipients (organization_id, asked_at) where asked_at is not null;
create index notification_recipients_by_address on notification_recipients (address, asked_at) where asked_at is not null;

create function note_recipients() returns trigger language plpgsql as $$
begin
  -- In the order of addresses, so that two routes of an organization that are written at the same time queue.
  insert into notification_recipients (organization_id, address, ask_at)
  select new.organization_id, address, now() from unnest(notified_addresses(new.notify_emails)) as address order by address
  on conflict (organization_id, address) do update set ask_at = excluded.ask_at
  where notification_recipients.confirmed_at is null and notification_recipients.asked_at is null
    and notification_recipients.ask_at is null;
  return null;
end $$;
create trigger routes_recipients_insert after insert on routes
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger routes_recipients_update after update of notify_emails on routes
  for each row when (new.notify_emails is not null and new.notify_emails is distinct from old.notify_emails)
  execute function note_recipients();

insert into notification_recipients (organization_id, address, ask_at)
select distinct organization_id, address, now()
from routes cross join unnest(notified_addresses(notify_emails)) as address
where notify_emails is not null
on conflict do nothing;
