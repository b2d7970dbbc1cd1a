-- Exports read destinations oldest first, in parts: each begins after the last of the part before. Their lists are read by it backwards.
create index destinations_by_age on destinations (organization_id, created_at, id);
