import type { Settings } from '../config/config.ts';
import type { Role } from './instruments.ts';

/** Usual for exporters of OpenTelemetry; the next one is for a worker on the same machine. */
const DEFAULT_PORTS: Readonly<Record<Role, number>> = { api: 9464, worker: 9465 };

type Port = Pick<Settings, 'OTEL_EXPORTER_PROMETHEUS_PORT'>;

/** @returns 0 for none */
export function metricsPort({ OTEL_EXPORTER_PROMETHEUS_PORT: port }: Port, role: Role): number {
  return port ?? DEFAULT_PORTS[role];
}

export function workersMetricsPort(settings: Port): number {
  const ofApi = metricsPort(settings, 'api');
  return ofApi === 0 ? 0 : ofApi + 1;
}

export function metricsPorts(settings: Port): number[] {
  const ofApi = metricsPort(settings, 'api');
  return ofApi === 0 ? [] : [ofApi, workersMetricsPort(settings)];
}
