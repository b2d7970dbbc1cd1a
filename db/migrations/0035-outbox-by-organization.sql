-- Claims take turns by organization: they hop from one organization with work to the next, and inside it from destination to
-- destination, so that the number of one organization's destinations does not delay another (db/hot-path/claim.ts).
-- Without deduplication, a claim that meets a dead row can mark it, and the next one skips it (PostgreSQL manual, 65.1.4.3).
create index outbox_by_organization on outbox (organization_id, destination_id) with (deduplicate_items = off);
