-- Autovacuum treats the outbox as the relays do (db/hot-path/outbox-vacuum.ts): where the role of the services may not vacuum it, as
-- before PostgreSQL 17, it is the only one. In a long outbox few pages have dead rows, and their index entries would stay, in front
-- of those that are claimed next. To truncate the file would block claims.
alter table outbox set (vacuum_index_cleanup = on, vacuum_truncate = off);
