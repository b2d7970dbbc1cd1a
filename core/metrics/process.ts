import { Gauge, Histogram, HTTP } from './instruments.ts';

const MOST_ROUTES = 300;

/** The pools of connections to PostgreSQL (core/config/database-connections.ts). */
const POOLS = ['ingest', 'service', 'management', 'hot', 'commands', 'warehouses'] as const;
export type PoolName = (typeof POOLS)[number];

export const buildInfo = new Gauge({
  name: 'hookyard_build_info',
  help: 'Always 1, with the Hookyard release, the role and the Node.js version as labels.',
  labels: { version: 1, role: ['api', 'worker'], node_version: 1 },
});

export const databasePoolWaiting = new Gauge({
  name: 'hookyard_db_pool_waiting',
  help: 'Statements waiting for a connection from a pool.',
  labels: { pool: POOLS },
});

export const eventLoopDelay = new Histogram({
  name: 'hookyard_event_loop_delay_seconds',
  help: 'Event loop delay, measured 20 times a second.',
});

/**
 * Semantic conventions of HTTP. Ingest and the management API; `http_route` is the path with its parameters by name.
 */
export const httpServerDuration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Duration of HTTP requests to the API, including ingest.',
  labels: {
    http_request_method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    http_response_status_code: 40,
    http_route: MOST_ROUTES,
    url_scheme: ['http'],
  },
  bounds: HTTP,
  in: ['api'],
});

export const cpuSeconds = new Gauge(
  {
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, including all threads.',
  },
  true,
);

export const residentMemory = new Gauge({
  name: 'process_resident_memory_bytes',
  help: 'Resident memory of the process.',
});

export const startTime = new Gauge({
  name: 'process_start_time_seconds',
  help: 'Start time of the process, in seconds since the Unix epoch.',
});

export const heapUsed = new Gauge({
  name: 'v8js_memory_heap_used_bytes',
  help: 'Used heap of the main thread.',
});

export const heapLimit = new Gauge({
  name: 'v8js_memory_heap_limit_bytes',
  help: 'Maximum heap size of the main thread.',
});

export const loopUtilization = new Gauge({
  name: 'nodejs_eventloop_utilization_ratio',
  help: 'Share of time that the event loop has been busy since the process started.',
});

export const gcDuration = new Histogram({
  name: 'v8js_gc_duration_seconds',
  help: 'Duration of garbage collection pauses.',
  labels: { v8js_gc_type: ['major', 'minor', 'incremental', 'weakcb'] },
});
