-- Drops the indexes of Temporal's visibility table that Hookyard's queries do not use; every workflow start and close writes
-- all of them, so this halves the cost of visibility. Applied by the embedded stack after each schema update; elsewhere
-- optional: psql -d temporal_visibility -f temporal-config/visibility-indexes.sql
--
-- Kept: the primary key; default_idx (lists by time); workflow id, type and status (the UI's filters); the namespace division
-- (schedules and other internal executions are told apart by it); the Keyword columns. The server chooses six of those ten at
-- random for the search attributes of temporal-config/namespace.ts; the embedded stack drops the other four indexes as well.
DO $$
DECLARE
  unused text;
BEGIN
  FOR unused IN
    SELECT indexname
    FROM pg_indexes
    WHERE schemaname = current_schema()
      AND tablename = 'executions_visibility'
      AND indexname NOT LIKE 'by\_keyword\_0_'
      AND indexname NOT IN (
        'executions_visibility_pkey', 'default_idx', 'by_workflow_id', 'by_workflow_type', 'by_status',
        'by_temporal_namespace_division', 'by_keyword_10')
  LOOP
    EXECUTE format('DROP INDEX %I', unused);
  END LOOP;
END
$$;
