-- Replays by filter of an organization share a rate. Until when it is used up, and when a replay may make its next page; null: not planned.
alter table organizations add column replays_planned_until timestamptz;
alter table event_replays add column page_at timestamptz;
