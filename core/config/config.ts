// The service's settings, read once from the environment, validated, printed with secrets masked, and passed in.
// TEMPORAL_* connection settings are read by Temporal's own environment loader (temporal-config/client.ts).
import { z } from 'zod';
import { PLANS } from './plans-and-scopes.ts';
import { parseRange } from '../http/addresses.ts';
import { hostAndPort, isDenied } from '../http/urls.ts';
import { LANE_SETTINGS } from '../delivery/delivery.ts';
import { ConfigError, SECRETS, type SecretName } from './secret-files.ts';
import { isRecipientRule } from '../messages/route-mails.ts';
import { parseGrant } from '../warehouse/operator-access.ts';

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`);

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

// What is allowed, outbound/http/address-guard.ts reads.
const reachable = list.refine(
  (entries) => entries.every((entry) => !isDenied(entry) || hostAndPort(entry.slice(1)) !== null),
  'must have host:port after each !, for example !temporal-ui:8080',
);

const identityGrants = list.refine(
  (entries) => entries.every((entry) => parseGrant(entry) !== null),
  'must be comma-separated entries of the form <organization slug>:<s3, gcs or r2>:<bucket> or <organization slug>:azure_blob:<account>/<container>, each optionally followed by /<prefix>',
);

const recipients = list.refine(isRecipientRule, 'must be "any", "confirmed" or comma-separated lowercase domains');

const oneOf = <const Choice extends string>(choices: readonly Choice[]) =>
  z.enum(choices, { error: `must be one of ${choices.join(', ')}` });

const onOff = oneOf(['on', 'off', '1', '0']).transform((text) => text === 'on' || text === '1');

// A switch, or the name of a release. A switch that is misspelt must not become one name for all releases.
const versioning = z
  .string()
  .transform((text) => onOff.safeParse(text).data ?? text)
  .refine(
    (value) =>
      typeof value === 'boolean' ||
      (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(value) && !/^(on|off|true|false|yes|no)$/i.test(value)),
    'must be off, on or the name of a release (at most 100 letters, digits, dots, hyphens or underscores, starting with a letter or digit)',
  );

const slug = z
  .string()
  .max(63, 'must be at most 63 characters long')
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'must contain only lowercase letters, digits and single hyphens, and start and end with a letter or digit',
  );

const url = (protocols: string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.parse(text);
      return parsed !== null && protocols.includes(parsed.protocol);
    },
    `must be a URL starting with ${protocols.map((p) => `${p}//`).join(' or ')}`,
  );

// Of services that paths are added to.
const base = url(['http:', 'https:']).transform((text) => text.replace(/\/+$/, ''));

// Temporal takes longer ids; the UI shows them in columns.
const prefix = z
  .string()
  .max(40, 'must be at most 40 characters long')
  .regex(
    /^([a-z0-9]+(-[a-z0-9]+)*)?$/,
    'must contain only lowercase letters, digits and single hyphens, and start and end with a letter or digit',
  );

// Compared with the Origin header of a browser, letter by letter (RFC 6454, section 6.2): no path, no default port.
const origins = list.refine(
  (texts) =>
    texts.every(
      (text) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '') && URL.parse(text)?.origin === text,
    ),
  'must be comma-separated origins as browsers send them, for example https://console.example.com; * is not accepted',
);

const ranges = list.refine(
  (texts) => texts.every((text) => parseRange(text) !== null),
  'must be comma-separated addresses or ranges, for example 10.0.0.0/8,2001:db8::/32',
);

// One row a variable: how it is read, and what it is when unset. core/config/secret-files.ts says which are secrets.
const variables = {
  HOOKYARD_PORT: { schema: integer(0, 65535), default: '3000' },
  HOOKYARD_HOST: { schema: z.string().min(1), default: '127.0.0.1' },
  HOOKYARD_PUBLIC_URL: { schema: url(['http:', 'https:']) },
  // Unset: by the role (core/metrics/instruments.ts). The last port is left for the worker that has the next one.
  OTEL_EXPORTER_PROMETHEUS_PORT: { schema: integer(0, 65534) },
  OTEL_EXPORTER_PROMETHEUS_HOST: { schema: z.string().min(1), default: '127.0.0.1' },
  HOOKYARD_CONSOLE: { schema: onOff, default: 'on' },
  HOOKYARD_DATA_DIR: { schema: z.string().min(1), default: './data' },
  HOOKYARD_API_KEY: {
    schema: z
      .string()
      .regex(
        /^whr_[A-Za-z0-9_-]{16,}$/,
        'must be whr_ followed by at least 16 letters, digits, hyphens or underscores',
      ),
  },
  HOOKYARD_OPERATOR_KEY: {
    schema: z.string().regex(/^[A-Za-z0-9_-]{32,200}$/, 'must be 32 to 200 letters, digits, hyphens or underscores'),
  },
  HOOKYARD_ORG_SLUG: { schema: slug, default: 'default' },
  // Unset: business (db/schema/prepare.ts).
  HOOKYARD_PLAN: { schema: oneOf(PLANS) },
  HOOKYARD_MIGRATE: { schema: onOff, default: 'on' },
  HOOKYARD_ENCRYPTION_KEYS: { schema: z.string().min(1) },
  // `decode`, the step between `off` and `on`: payloads are written plain, and both are read.
  HOOKYARD_TEMPORAL_CODEC: { schema: oneOf(['off', 'decode', 'on']), default: 'off' },
  HOOKYARD_TEMPORAL_PREFIX: { schema: prefix, default: '' },
  HOOKYARD_WORKER_VERSIONING: { schema: versioning, default: 'off' },
  HOOKYARD_DELIVERY_ALLOW: { schema: reachable, default: '' },
  HOOKYARD_WAREHOUSE_IDENTITY: { schema: identityGrants, default: '' },
  HOOKYARD_LANE: { schema: oneOf(LANE_SETTINGS), default: 'adaptive' },
  HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS: { schema: integer(1, 100_000), default: '500' },
  HOOKYARD_TRUSTED_PROXIES: { schema: ranges },
  HOOKYARD_MAX_PAYLOAD_BYTES: { schema: integer(1, 100 * 1024 * 1024), default: String(10 * 1024 * 1024) },
  HOOKYARD_PAYLOAD_RETENTION_DAYS: { schema: integer(0, 36500), default: '30' },
  HOOKYARD_EVENT_RETENTION_DAYS: { schema: integer(0, 36500), default: '90' },
  // The database keeps them for 30 days at least (forget_audit_records).
  HOOKYARD_AUDIT_RETENTION_DAYS: {
    schema: integer(0, 36500).refine((days) => days === 0 || days >= 30, 'must be 0 (forever) or at least 30'),
    default: '365',
  },
  HOOKYARD_HEALTH_WINDOW_HOURS: { schema: integer(1, 720), default: '24' },
  HOOKYARD_REPLAY_WINDOW_HOURS: { schema: integer(0, 8760), default: '72' },
  HOOKYARD_API_RATE_LIMIT_PER_MINUTE: { schema: integer(1, 1_000_000) },
  HOOKYARD_CORS_ORIGINS: { schema: origins },
  HOOKYARD_HEADER_PREFIX: {
    schema: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9-]*-$/,
        'must contain only letters, digits and hyphens, start with a letter and end with a hyphen',
      ),
    default: 'X-Hookyard-',
  },
  HOOKYARD_MAX_BACKLOG: { schema: integer(0, 10_000_000), default: '1000000' },
  HOOKYARD_MAX_DATABASE_BYTES: { schema: integer(1, Number.MAX_SAFE_INTEGER) },
  HOOKYARD_THREADS: { schema: integer(1, 64), default: '2' },
  // Unset: by the role (core/config/database-connections.ts).
  HOOKYARD_DATABASE_CONNECTIONS: { schema: integer(8, 500) },
  HOOKYARD_DRAIN_SECONDS: { schema: integer(0, 600), default: '10' },
  HOOKYARD_SHUTDOWN_SECONDS: { schema: integer(1, 600), default: '15' },
  HOOKYARD_TEMPORAL_DOWNLOAD_URL: { schema: url(['http:', 'https:']) },
  POSTGRES_PORT: { schema: integer(0, 65535), default: '5433' },
  TEMPORAL_PORT: { schema: integer(0, 65535), default: '7233' },
  TEMPORAL_UI_PORT: { schema: integer(0, 65535), default: '8233' },
  TEMPORAL_UI_URL: { schema: url(['http:', 'https:']) },
  SMTP_URL: { schema: url(['smtp:', 'smtps:']) },
  HOOKYARD_NOTIFY_RECIPIENTS: { schema: recipients },
  HOOKYARD_PAGERDUTY_URL: { schema: base },
  HOOKYARD_PROVIDER_KEYS_URL: { schema: base },
  HOOKYARD_NOTIFY_FROM: { schema: z.email('must be an email address') },
  DATABASE_URL: { schema: url(['postgres:', 'postgresql:']) },
  DATABASE_DIRECT_URL: { schema: url(['postgres:', 'postgresql:']) },
  LOG_LEVEL: { schema: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), default: 'info' },
  HOOKYARD_LOG_FORMAT: { schema: oneOf(['json', 'text']), default: 'json' },
} as const satisfies Record<string, { schema: z.ZodType; default?: string }>;

// Variables of the CLI, which may run in the same shell: not settings of the service, but not errors.
const NOT_OURS = ['HOOKYARD_URL', 'HOOKYARD_PROFILE', 'HOOKYARD_MCP_TOKEN'];

type Variables = typeof variables;
type Read<Name extends keyof Variables> =
  | z.output<Variables[Name]['schema']>
  | (Variables[Name] extends { default: string } ? never : undefined);

export type Settings = { [Name in keyof Variables]: Read<Name> } & {
  /** Where a secret was read from, if it was read from a file. */
  [Name in SecretName as `${Name}_FILE`]?: string;
};

/**
 * @param env usually `process.env` with the secrets that are in files (core/config/secret-files.ts); an empty text
 * counts as unset
 * @throws ConfigError naming every variable that is unknown (`HOOKYARD_*` only) or has a value that cannot be used
 */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of SECRETS) if (env[`${name}_FILE`]) values[`${name}_FILE`] = env[`${name}_FILE`];
  const known = [...Object.keys(variables), ...NOT_OURS, ...SECRETS.map((name) => `${name}_FILE`)];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('HOOKYARD_') || known.includes(name)) continue;
    const plain = name.replace(/_FILE$/, '');
    problems.push(
      plain !== name && plain in variables
        ? `${name}: only secrets are read from files; set ${plain}`
        : `${name} is not a Hookyard setting; remove it, or see docs/operate/configuration.md`,
    );
  }
  for (const [name, row] of Object.entries<{ schema: z.ZodType; default?: string }>(variables)) {
    const text = env[name] || row.default;
    if (text === undefined || (text === '' && row.default !== '')) continue;
    const parsed = row.schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${name} ${parsed.error.issues[0]?.message ?? 'cannot be used'}${isSecret(name) ? '' : ` (the value is "${text}")`}`,
      );
  }
  if (values.SMTP_URL !== undefined && values.HOOKYARD_NOTIFY_FROM === undefined && !env.HOOKYARD_NOTIFY_FROM) {
    problems.push('HOOKYARD_NOTIFY_FROM must be set to the sender address for emails, because SMTP_URL is set');
  }
  if (values.DATABASE_DIRECT_URL !== undefined && values.DATABASE_URL === undefined && !env.DATABASE_URL) {
    problems.push('DATABASE_URL must be set, because DATABASE_DIRECT_URL is set; both must refer to the same database');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Settings;
}

export type LogSettings = Pick<Settings, 'LOG_LEVEL'> & Partial<Pick<Settings, 'HOOKYARD_LOG_FORMAT'>>;

/** A value that cannot be used counts as unset here. */
export function readLogSettings(env: Record<string, string | undefined>): LogSettings {
  const read = <Name extends keyof LogSettings>(name: Name): Settings[Name] => {
    const { schema, default: unset } = variables[name];
    return (schema.safeParse(env[name] || unset).data ?? unset) as Settings[Name];
  };
  return { LOG_LEVEL: read('LOG_LEVEL'), HOOKYARD_LOG_FORMAT: read('HOOKYARD_LOG_FORMAT') };
}

export function describeSettings(settings: Settings): string[] {
  const names = [...Object.keys(variables), ...SECRETS.map((name) => `${name}_FILE`)] as (keyof Settings)[];
  return names
    .filter((name) => settings[name] !== undefined)
    .map((name) => `${name}=${isSecret(name) ? '****' : String(settings[name])}`);
}

export const isUsable = (name: keyof Variables, text: string): boolean =>
  variables[name].schema.safeParse(text).success;

const isSecret = (name: string) => (SECRETS as readonly string[]).includes(name);

/** The base of every `webhookUrl`: `HOOKYARD_PUBLIC_URL` without its trailing slash, else the local address. */
export function publicUrl(settings: Settings, boundPort: number = settings.HOOKYARD_PORT): string {
  return (settings.HOOKYARD_PUBLIC_URL ?? `http://localhost:${boundPort}`).replace(/\/+$/, '');
}

/** How many days payloads are kept; null: for ever. A payload never outlives its event. */
export function payloadDays(
  settings: Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>,
): number | null {
  const days = [settings.HOOKYARD_PAYLOAD_RETENTION_DAYS, settings.HOOKYARD_EVENT_RETENTION_DAYS];
  const limited = days.filter((each) => each > 0);
  return limited.length === 0 ? null : Math.min(...limited);
}
