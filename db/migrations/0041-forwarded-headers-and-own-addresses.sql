-- Which received headers a destination gets: null (all but those that steer servers), "all", "none", or a list of names.
alter table destinations add column forward_headers jsonb;
-- Whether a route may deliver to addresses under HOOKYARD_PUBLIC_URL, whose deliveries come back as webhooks.
alter table routes add column allow_own_address boolean not null default false;
-- What went to a Hookyard before may have been meant to, and goes on; the limit of hops ends its loops.
update routes r set allow_own_address = true where exists (
  select from destinations d
  where d.organization_id = r.organization_id and d.id = any(r.destination_ids || r.failover_destination_ids)
    and d.url ~ '/ingest/[^/?#]+/[^/?#]+');
