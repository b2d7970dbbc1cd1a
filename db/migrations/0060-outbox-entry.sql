-- Since when a delivery waits in the outbox. Its id says when it was made, which may be long before: a circuit may have held it. The
-- metrics show the age of the oldest; nothing else depends on it.
alter table outbox add column entered_at timestamptz not null default now();
