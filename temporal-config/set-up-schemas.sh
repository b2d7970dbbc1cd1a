#!/bin/sh
# Brings the schemas of Temporal's two databases up to date, as their owner; run by docker-compose.yml in Temporal's admin-tools image.
# The databases exist (local/make-roles.ts): their owner may make no others. The connection comes from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD. What exists already is left as it is.
set -eu

set_up() {
  temporal-sql-tool --db "$1" setup-schema --version 0.0
  temporal-sql-tool --db "$1" update-schema --schema-name "$2"
}

set_up temporal postgresql/v12/temporal
set_up temporal_visibility postgresql/v12/visibility
