-- What a replay waits for that cannot make its next page, such as room in the backlog; null while it makes pages.
alter table event_replays add column waits_for text;
