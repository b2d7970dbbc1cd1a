-- When the next delivery to a rate-limited destination may be sent: the one number of the generic cell rate algorithm
-- (ITU-T I.371) without burst. A row is made at the first use and removed when the limit is changed.
create table rate_limits (
  destination_id text collate "C" primary key references destinations (id) on delete cascade,
  next_at timestamptz not null
) with (fillfactor = 50);

-- Slots reserved under the old limit say nothing about the new one.
create function forget_rate_limit() returns trigger language plpgsql as $$
begin
  delete from rate_limits where destination_id = new.id;
  return null;
end $$;
create trigger destinations_rate_limit after update on destinations
  for each row when (old.rate_limit_per_minute is distinct from new.rate_limit_per_minute)
  execute function forget_rate_limit();
