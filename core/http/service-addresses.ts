// Where Hookyard's own services listen. Destinations never reach them (outbound/http/protected-services.ts).
import type { Settings } from '../config/config.ts';
import { type HostAndPort, hostAndPort, isDenied } from './host-and-port.ts';
import { metricsPorts } from '../metrics/ports.ts';

const THIS_MACHINE = 'localhost';
const POSTGRES_PORT = 5432;
const TEMPORAL_PORT = 7233;
const WEB_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
// A mail server listens on several, and takes its commands from anyone who connects.
const MAIL_PORTS = [25, 465, 587];

type Settled = Pick<
  Settings,
  | 'DATABASE_URL'
  | 'DATABASE_DIRECT_URL'
  | 'TEMPORAL_UI_URL'
  | 'SMTP_URL'
  | 'HOOKYARD_PORT'
  | 'HOOKYARD_HOST'
  | 'OTEL_EXPORTER_PROMETHEUS_PORT'
  | 'OTEL_EXPORTER_PROMETHEUS_HOST'
  | 'HOOKYARD_DELIVERY_ALLOW'
>;

/**
 * Everything the settings name: the API, the ports for metrics, PostgreSQL, Temporal, its UI, the mail server, and what
 * HOOKYARD_DELIVERY_ALLOW denies.
 * @param temporalAddress `host:port`, as the SDK reads it
 */
export function ownServices(settings: Settled, temporalAddress: string): HostAndPort[] {
  return [
    ...apiService(settings, settings.HOOKYARD_PORT),
    ...metricsPorts(settings).flatMap((port) =>
      apiService({ HOOKYARD_HOST: settings.OTEL_EXPORTER_PROMETHEUS_HOST }, port),
    ),
    ...database(settings.DATABASE_URL),
    ...database(settings.DATABASE_DIRECT_URL),
    hostAndPort(temporalAddress) ?? { host: temporalAddress, port: TEMPORAL_PORT },
    ...web(settings.TEMPORAL_UI_URL),
    ...mail(settings.SMTP_URL),
    ...settings.HOOKYARD_DELIVERY_ALLOW.filter(isDenied).map((entry) => hostAndPort(entry.slice(1))),
  ].filter((service) => service !== null);
}

/**
 * The API on the port it has bound; 0 is none. It listens on this machine, whichever of its addresses the setting
 * names.
 */
export function apiService({ HOOKYARD_HOST: host }: Pick<Settings, 'HOOKYARD_HOST'>, port: number): HostAndPort[] {
  return port === 0 ? [] : [THIS_MACHINE, host].map((name) => ({ host: name, port }));
}

/** A port of 127.0.0.1; 0 is none. */
export function onThisMachine(port: number): HostAndPort[] {
  return port === 0 ? [] : [{ host: THIS_MACHINE, port }];
}

/** A socket's folder in place of the host: the server may listen on this machine's ports too. */
function database(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  const host = url.searchParams.get('host') || bare(url.hostname);
  const port = Number(url.port || url.searchParams.get('port') || POSTGRES_PORT);
  return [{ host: host === '' || host.startsWith('/') ? THIS_MACHINE : decodeURIComponent(host), port }];
}

function web(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  return [{ host: bare(url.hostname), port: Number(url.port) || (WEB_PORTS[url.protocol] ?? 0) }];
}

function mail(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  const ports = url.port === '' ? MAIL_PORTS : [...MAIL_PORTS, Number(url.port)];
  return ports.map((port) => ({ host: bare(url.hostname), port }));
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
