-- Replays of events chosen by a filter. The workflow `replay` asks for one page after the other; each page is one
-- transaction that creates deliveries and moves the row on.

create table event_replays (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id) on delete cascade,
  -- What was asked for; null: any. No foreign key to the source: when it is deleted, nothing matches any more.
  source_id text collate "C", event_status text, event_routed boolean, received_from timestamptz(3),
  received_to timestamptz(3), search text, payload_pattern text, destination_ids text[] collate "C",
  -- The events it is about: ids from next_id on and below end_id, stored by requested_at. next_id moves towards end_id.
  next_id text collate "C" not null, end_id text collate "C" not null, requested_at timestamptz(3) not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'cancelled', 'failed')),
  events_total integer,  -- that matched at the request; null: counting them took too long
  events_replayed integer not null default 0, events_expired integer not null default 0,
  events_unroutable integer not null default 0, rate_per_second integer not null check (rate_per_second > 0),
  pages integer not null default 0, deliveries_created integer not null default 0, error text,
  waits_for text,  -- what keeps it from its next page, such as room in the backlog; null while it makes pages
  page_at timestamptz,  -- when it may make its next page (organizations.replays_planned_until); null: not planned
  -- when a worker looks for its workflow; every page moves it ahead; null: the replay has ended
  due_at timestamptz(3) default now(),
  created_at timestamptz(3) not null default now(), started_at timestamptz(3), finished_at timestamptz(3)
) with (fillfactor = 50);
create index event_replays_by_organization on event_replays (organization_id, id);
create index event_replays_open on event_replays (due_at) where due_at is not null;
create trigger event_replays_wake after insert on event_replays for each row execute function wake_workers();
