-- The address that an event came from, behind the operator's proxies. Null: stored by an earlier release.
alter table events add column client_address text;
