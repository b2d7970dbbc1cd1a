#!/bin/sh
# Writes .env for docker-compose.yml in this folder, with new secrets and the published image:
#   sh deploy/compose-env.sh && docker compose pull && docker compose up --no-build --wait
set -eu
umask 077
if [ -e .env ]; then
  echo '.env is there already; the data of its installation cannot be read without it' >&2
  exit 1
fi
cat > .env <<END
HOOKYARD_IMAGE=ghcr.io/hookyard/hookyard:0.1.0
POSTGRES_PASSWORD=$(openssl rand -hex 24)
POSTGRES_OWNER_PASSWORD=$(openssl rand -hex 24)
POSTGRES_RUNTIME_PASSWORD=$(openssl rand -hex 24)
POSTGRES_TEMPORAL_PASSWORD=$(openssl rand -hex 24)
HOOKYARD_ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)
HOOKYARD_API_KEY=whr_$(openssl rand -hex 24)
END
