-- Destinations that receive files in an object store (docs/warehouses.md).

alter table destinations drop constraint destinations_type_check;
alter table destinations add constraint destinations_type_check check (type in ('http', 's3', 'r2', 'gcs', 'azure_blob'));

-- The whole config as encrypted JSON, like auth_config. Null on http, and on a warehouse that was imported without it.
alter table destinations add column config text;
-- The rules of the mapping. Null on http; on a warehouse: rows are whole events.
alter table destinations add column field_mapping jsonb;
alter table destinations add constraint destinations_warehouse_members
  check (type <> 'http' or (config is null and field_mapping is null));
-- What the type is can be told by the id, so that whoever has only ids needs no look-up.
alter table destinations add constraint destinations_id_tells_type
  check ((type = 'http') = (id not like 'dst\_wh\_%'));
