-- Deleted sources take turns at being removed, so that neither a very large one nor one that cannot be removed holds up the others.
-- The time of the last step; null: none was tried.
alter table source_purges add column tried_at timestamptz;
