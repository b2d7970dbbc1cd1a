-- When a key was last used, to the minute, so that one that nobody uses any more can be revoked without fear. Null: never.
alter table api_keys add column last_used_at timestamptz(3);
