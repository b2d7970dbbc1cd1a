#!/bin/sh
# Creates Temporal's two databases and brings their schemas up to date; run by docker-compose.yml in Temporal's admin-tools image.
# The connection comes from SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD. What exists already is left as it is.
set -eu

set_up() {
  temporal-sql-tool --db "$1" create-database
  temporal-sql-tool --db "$1" setup-schema --version 0.0
  temporal-sql-tool --db "$1" update-schema --schema-name "$2"
}

set_up temporal postgresql/v12/temporal
set_up temporal_visibility postgresql/v12/visibility
