// node local/healthcheck.ts [path]: whether the process of this container answers its probe, by default /healthz. For both roles: an
// API answers on its own port, a worker on that for metrics. The image's HEALTHCHECK, and docker-compose.yml with /readyz.
import { metricsPort } from '../core/metrics/ports.ts';

const DEADLINE_MS = 4000;

const [, , path = '/healthz'] = process.argv;
const { HOOKYARD_PORT, HOOKYARD_METRICS_PORT } = process.env;
const metrics = HOOKYARD_METRICS_PORT ? Number(HOOKYARD_METRICS_PORT) : undefined;
const ports = [Number(HOOKYARD_PORT || 3000), metricsPort({ HOOKYARD_METRICS_PORT: metrics }, 'worker')];
const answers = await Promise.all(ports.map(isWell));
// A worker listens on one of them, an API on the other.
process.exit(answers.includes(true) ? 0 : 1);

async function isWell(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
