-- The records of an organization about one thing, by the index of their ids. With row-level security PostgreSQL looks at a policy
-- before anything that is not leakproof, and `@>` of arrays is not: the role of the tenants would read all records of its
-- organization. So this runs as the owner of the table, with the condition of the policy (db/tenants/policies.ts).
--
-- `offset 0`: by the index of ids, whatever the organization. They are unique, so what is found is of one.
create function audit_records_about(record text) returns setof text
language sql stable rows 100 security definer set search_path = pg_catalog, public, pg_temp as $$
  select id from (select id, organization_id from audit_records where record_ids @> array[record] offset 0) found
  where organization_id = current_setting('hookyard.organization_id', true)
$$;

-- The roles of tenants get it with their other rights (db/tenants/rights.ts).
revoke execute on function audit_records_about(text) from public;
