-- Mails of routes (docs/notifications.md): what is to be mailed, and to whom.

-- Mails to send, one row per route and kind. Written in the statement that ends a delivery, so a notification is as durable as the
-- result it reports. No foreign keys: recording a result must not fail when its route is deleted at the same moment.
create table route_notifications (
  route_id text collate "C" not null, kind text not null check (kind in ('failure', 'recovery', 'success')),
  organization_id text collate "C" not null,
  -- Deliveries that no mail has reported yet, when the first of them ended, and the facts of the latest.
  count integer not null default 0, since timestamptz(3), facts jsonb,
  due_at timestamptz(3),  -- when the next mail may go; null: nothing to report. A claim moves it ahead, like a lease
  mail jsonb,  -- the mail that is being sent: its content is frozen before the first try, so that a repeated mail is the same mail
  sent_at timestamptz(3),  -- when the last mail was finished
  primary key (route_id, kind)
) with (fillfactor = 50);
create index route_notifications_due on route_notifications (due_at) where due_at is not null;

-- Destinations of a route (the primary one, where a failover destination stood in) whose last delivery failed. Only of routes that
-- notify of a recovery; a healthy route has no row here, and writes none.
create table failing_destinations (
  route_id text collate "C" not null, destination_id text collate "C" not null, failures integer not null,
  since timestamptz(3) not null,
  primary key (route_id, destination_id)
);

-- How long deliveries are collected before a mail goes, and how long a route is quiet after one: failures and recoveries at once and
-- then every 5 minutes, successes every minute.
create function notification_collects(kind text) returns interval language sql immutable parallel safe as $$
  select case kind when 'success' then interval '1 minute' else interval '0' end
$$;
create function notification_spacing(kind text) returns interval language sql immutable parallel safe as $$
  select case kind when 'success' then interval '1 minute' else interval '5 minutes' end
$$;

-- Notes ended deliveries of routes that notify. A destination has not recovered while the route's circuit is not closed: a single
-- probe that succeeds is no recovery. Statements call it only when there is such a delivery, so all others only pay for the look at
-- their route. Takes an array of objects with the members of `o` below; returns how many notifications were written. Rows are
-- upserted in key order; should two callers deadlock all the same, one of their statements is rolled back whole and repeated.
create function note_outcomes(outcomes jsonb) returns integer language plpgsql as $$
declare
  recovered jsonb;
  written integer;
begin
  -- What a group of outcomes leaves behind is decided by the last one: a destination that failed again has not recovered.
  with o as (
    select * from jsonb_to_recordset(outcomes) as o(route_id text, primary_id text, status text, at timestamptz, on_recovery boolean)
    where on_recovery
  ), last as (
    select route_id, primary_id, count(*) filter (where status = 'failed') as failures,
           min(at) filter (where status = 'failed') as since, max(at) filter (where status = 'failed') as failed_at,
           max(at) filter (where status = 'delivered') as delivered_at
    from o group by 1, 2
  ), marked as (
    insert into failing_destinations as f (route_id, destination_id, failures, since)
    select route_id, primary_id, failures, since from last
    where failures > 0 and (delivered_at is null or delivered_at < failed_at) order by 1, 2
    on conflict (route_id, destination_id) do update set failures = f.failures + excluded.failures
  ), cleared as (
    delete from failing_destinations f using last l
    where f.route_id = l.route_id and f.destination_id = l.primary_id
      and l.delivered_at is not null and (l.failed_at is null or l.failed_at <= l.delivered_at)
      and not exists (select from circuits c where c.route_id = f.route_id and c.state <> 'closed')
    returning f.route_id, f.destination_id as primary_id, f.failures, f.since
  )
  select jsonb_object_agg(l.route_id || ' ' || l.primary_id, jsonb_build_object(
           'failures', l.failures + coalesce(c.failures, 0), 'failing_since', coalesce(c.since, l.since)))
  into recovered
  from last l left join cleared c using (route_id, primary_id)
  where c.route_id is not null or (l.failures > 0 and l.failed_at <= l.delivered_at);

  with o as (
    select r.*, outcome.value - '{on_failure,on_success,on_recovery}'::text[] as facts
    from jsonb_array_elements(outcomes) as outcome(value)
    cross join jsonb_to_record(outcome.value) as r(organization_id text, route_id text, primary_id text, status text, at timestamptz,
      on_failure boolean, on_success boolean)
  ), told as (
    select organization_id, route_id, 'failure' as kind, at, facts from o where status = 'failed' and on_failure
    union all
    select organization_id, route_id, 'success', at, facts from o where status = 'delivered' and on_success
    union all
    select organization_id, route_id, 'recovery', at, facts || (recovered -> (route_id || ' ' || primary_id))
    from (select distinct on (route_id, primary_id) * from o where status = 'delivered' order by route_id, primary_id, at desc) o
    where recovered -> (route_id || ' ' || primary_id) is not null
  )
  insert into route_notifications as n (route_id, kind, organization_id, count, since, facts, due_at)
  select route_id, kind, min(organization_id), count(*), min(at), (array_agg(facts order by at desc))[1], now() + notification_collects(kind)
  from told group by route_id, kind order by route_id, kind
  on conflict (route_id, kind) do update
    set count = n.count + excluded.count, facts = excluded.facts,
        since = case when n.count = 0 then excluded.since else n.since end,
        due_at = coalesce(n.due_at, greatest(excluded.due_at, n.sent_at + notification_spacing(n.kind)));
  get diagnostics written = row_count;
  return written;
end $$;

-- What a route no longer notifies of is forgotten, and all of it with the route. With the rights of the owner of the tables: a
-- tenant's role sees a row here only while its destination or its route is there, and when this runs, after the deletion of the
-- route, both may be gone. The rows are those of a route that the role could change.
create function forget_notifications() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' or not new.notify_on_recovery then
    delete from failing_destinations where route_id = old.id;
  end if;
  if tg_op = 'DELETE' then
    delete from route_notifications where route_id = old.id;
  end if;
  return null;
end $$;
create trigger routes_forget_notifications after delete or update of notify_on_recovery on routes
  for each row execute function forget_notifications();

-- Addresses that routes and alert channels mail to, per organization, and whether their owners have agreed. Written by a trigger, so
-- that no way to change a route forgets it.
create table notification_recipients (
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  address text not null,  -- in lower case
  confirmed_at timestamptz(3),  -- when its owner has agreed
  -- When the mail that asks the owner may be sent; null while none is wanted. A claim moves it ahead, like a lease.
  ask_at timestamptz(3),
  -- The last try to send it, and how many were sent.
  asked_at timestamptz(3), asked_count integer not null default 0,
  -- When mails asked the owner, the last five of them: how many mails an address gets is limited, not how many organizations ask it.
  asked_times timestamptz(3)[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, address)
);
create index notification_recipients_due on notification_recipients (ask_at) where confirmed_at is null;
-- The limits of such mails.
create index notification_recipients_asked on notification_recipients (organization_id, asked_at) where asked_at is not null;
create index notification_recipients_by_address on notification_recipients (address, asked_at) where asked_at is not null;

create function notified_addresses(emails text) returns text[] language sql immutable parallel safe
  return array(
    select distinct lower(btrim(address)) from unnest(string_to_array(emails, ',')) as address where btrim(address) <> ''
  );

create function note_recipients() returns trigger language plpgsql as $$
begin
  -- In the order of addresses, so that two routes of an organization that are written at the same time queue.
  insert into notification_recipients (organization_id, address, ask_at)
  select new.organization_id, address, now() from unnest(notified_addresses(new.notify_emails)) as address order by address
  on conflict (organization_id, address) do update set ask_at = excluded.ask_at
  where notification_recipients.confirmed_at is null and notification_recipients.asked_at is null
    and notification_recipients.ask_at is null;
  if found then perform pg_notify('hookyard_outbox', 'due'); end if;
  return null;
end $$;
create trigger routes_recipients_insert after insert on routes
  for each row when (new.notify_emails is not null) execute function note_recipients();
create trigger routes_recipients_update after update of notify_emails on routes for each row
  when (new.notify_emails is not null and new.notify_emails is distinct from old.notify_emails) execute function note_recipients();
