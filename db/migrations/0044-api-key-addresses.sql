-- The ranges of addresses that a key may be used from, in CIDR notation; null: from everywhere.
alter table api_keys add column allowed_addresses text[];
