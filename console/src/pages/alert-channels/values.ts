// An alert channel as its form holds it, and back as the API takes it.
import type { AlertChannel } from '@hookyard/client';
import type { Input } from '../../api/client.ts';
import { changedOf } from '../../forms/changed.ts';

type Body = Input<'createAlertChannel'>['body'];
type ChannelType = AlertChannel['type'];

/** The members of each type's config, in the order of the form. */
export const CONFIGS: Record<ChannelType, { name: string; label: string; help?: string; choices?: string[] }[]> = {
  mail: [{ name: 'emails', label: 'Email addresses', help: 'Comma-separated.' }],
  webhook: [
    { name: 'url', label: 'URL' },
    { name: 'secret', label: 'Secret', help: 'Signs the messages (Standard Webhooks, whsec_…).' },
  ],
  slack: [{ name: 'url', label: 'Incoming webhook URL' }],
  teams: [{ name: 'url', label: 'Workflow URL', help: 'The URL of a workflow that is triggered by a webhook.' }],
  pagerduty: [
    { name: 'routingKey', label: 'Integration key', help: 'The key of an Events API v2 integration.' },
    { name: 'severity', label: 'Severity', choices: ['critical', 'error', 'warning', 'info'] },
    { name: 'region', label: 'Region', choices: ['us', 'eu'] },
  ],
};

export const TYPES: Readonly<Record<ChannelType, string>> = {
  mail: 'Email',
  webhook: 'Signed webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
};

export interface ChannelValues {
  name: string;
  type: ChannelType;
  config: Record<string, string>;
  kinds: string[];
  sourceIds: string[];
  routeIds: string[];
  destinationIds: string[];
  afterCount: number | null;
  onAcknowledged: boolean;
  onResolved: boolean;
  throttleMinutes: number | null;
  quietHours: { isOn: boolean; from: string; to: string; timeZone: string };
  digestMinutes: number | null;
  enabled: boolean;
}

export const EMPTY_CONFIG: Record<string, string> = {
  emails: '',
  url: '',
  secret: '',
  routingKey: '',
  severity: 'error',
  apiKey: '',
  priority: 'P3',
  region: 'us',
};

/** The defaults of the API. */
export const NEW: ChannelValues = {
  name: '',
  type: 'mail',
  config: EMPTY_CONFIG,
  kinds: [],
  sourceIds: [],
  routeIds: [],
  destinationIds: [],
  afterCount: 1,
  onAcknowledged: false,
  onResolved: true,
  throttleMinutes: 0,
  quietHours: { isOn: false, from: '22:00', to: '07:00', timeZone: 'UTC' },
  digestMinutes: null,
  enabled: true,
};

/** The members whose errors have a field. */
export const FIELDS = [
  ...Object.keys(NEW),
  ...Object.keys(EMPTY_CONFIG).map((name) => `config.${name}`),
  ...['from', 'to', 'timeZone'].map((name) => `quietHours.${name}`),
];

export function valuesOf(channel: AlertChannel): ChannelValues {
  const { quietHours, kinds, sourceIds, routeIds, destinationIds } = channel;
  return {
    name: channel.name,
    type: channel.type,
    config: { ...EMPTY_CONFIG, ...channel.config },
    kinds: kinds ?? [],
    sourceIds: sourceIds ?? [],
    routeIds: routeIds ?? [],
    destinationIds: destinationIds ?? [],
    afterCount: channel.afterCount,
    onAcknowledged: channel.onAcknowledged,
    onResolved: channel.onResolved,
    throttleMinutes: channel.throttleMinutes,
    quietHours: quietHours ? { isOn: true, ...quietHours } : NEW.quietHours,
    digestMinutes: channel.digestMinutes,
    enabled: channel.enabled,
  };
}

/** None chosen means all. */
const orAll = (chosen: string[]): string[] | null => (chosen.length === 0 ? null : chosen);

/**
 * The members that were changed; of a new channel all. A secret that is shown masked is sent back so, which keeps it.
 */
export function bodyOf(values: ChannelValues, changed: ReadonlySet<string>): Body {
  const { isOn, ...quietHours } = values.quietHours;
  const all = {
    ...values,
    config: Object.fromEntries(CONFIGS[values.type].map(({ name }) => [name, values.config[name]])),
    kinds: orAll(values.kinds),
    sourceIds: orAll(values.sourceIds),
    routeIds: orAll(values.routeIds),
    destinationIds: orAll(values.destinationIds),
    quietHours: isOn ? quietHours : null,
  };
  return changedOf(all, changed) as Body;
}
