-- Who makes a delivery's first attempt: its workflow, or the relay itself (docs/how-a-webhook-travels.md, "Two lanes").

-- Null: as the service is set (HOOKYARD_LANE).
alter table routes add column lane text check (lane in ('workflow', 'express'));

-- In which lane the first attempt was made; null before that.
alter table deliveries add column lane text;
