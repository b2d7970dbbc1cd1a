// node local/healthcheck.ts [path]: whether the process of this container answers its probe, by default /healthz. For
// both roles: an API answers on its own port, a worker on that for metrics. The image's HEALTHCHECK, and
// docker-compose.yml with /readyz.
import { metricsPort } from '../core/metrics/ports.ts';
import { isWell } from './ports.ts';

const DEADLINE_MS = 4000;
const EVERY_ADDRESS = ['0.0.0.0', '::'];

const [, , path = '/healthz'] = process.argv;
const { HOOKYARD_HOST, HOOKYARD_PORT, OTEL_EXPORTER_PROMETHEUS_HOST, OTEL_EXPORTER_PROMETHEUS_PORT } = process.env;
const metrics = OTEL_EXPORTER_PROMETHEUS_PORT ? Number(OTEL_EXPORTER_PROMETHEUS_PORT) : undefined;
const found = await Promise.all([
  answers(HOOKYARD_HOST, Number(HOOKYARD_PORT || 3000)),
  answers(OTEL_EXPORTER_PROMETHEUS_HOST, metricsPort({ OTEL_EXPORTER_PROMETHEUS_PORT: metrics }, 'worker')),
]);
// A worker listens on one of them, an API on the other.
process.exit(found.includes(true) ? 0 : 1);

/** @param host that the process listens on */
async function answers(host: string | undefined, port: number): Promise<boolean> {
  const address = !host || EVERY_ADDRESS.includes(host) ? '127.0.0.1' : host;
  const name = address.includes(':') ? `[${address}]` : address;
  return await isWell(`http://${name}:${port}${path}`, DEADLINE_MS);
}
