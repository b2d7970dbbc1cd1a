// Creates or changes an alert channel.
import type { AlertChannel } from '@hookyard/client';
import {
  choice,
  choices,
  enabled,
  type Entry,
  type Field,
  flag,
  records,
  section,
  text,
  whole,
  withMasks,
} from '../../forms/fields.tsx';
import { type Member, asStored, switched, type ValuesOf } from '../../forms/members.ts';
import { recordPages } from '../../forms/recordPages.tsx';
import { KINDS } from '../../words.ts';

type ChannelType = AlertChannel['type'];

export const TYPES: Readonly<Record<ChannelType, string>> = {
  mail: 'Email',
  webhook: 'Signed webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
};

const needed = (path: string, label: string, help?: string): Field => text(path, label, { help, isRequired: true });

/** The members of each type's config, in the order of the form. */
const CONFIGS: Record<ChannelType, Field[]> = {
  mail: [needed('emails', 'Email addresses', 'Comma-separated.')],
  webhook: [needed('url', 'URL'), needed('secret', 'Secret', 'Signs the messages (Standard Webhooks, whsec_…).')],
  slack: [needed('url', 'Incoming webhook URL')],
  teams: [needed('url', 'Workflow URL', 'From a workflow triggered by a webhook.')],
  pagerduty: [
    needed('routingKey', 'Integration key', 'From an Events API v2 integration.'),
    choice('severity', 'Severity', ['critical', 'error', 'warning', 'info'], { isRequired: true }),
    choice('region', 'Region', ['us', 'eu'], { isRequired: true }),
  ],
};

const EMPTY_CONFIG: Record<string, string> = {
  ...{ emails: '', url: '', secret: '', routingKey: '', severity: 'error', region: 'us' },
};

/** None chosen means all. */
const orAll: Member<string[]> = { ...asStored<string[]>([]), write: (chosen) => (chosen.length === 0 ? null : chosen) };

const members = {
  name: asStored(''),
  type: asStored<ChannelType>('mail'),
  config: {
    start: EMPTY_CONFIG,
    read: (stored: Record<string, string>) => ({ ...EMPTY_CONFIG, ...stored }),
    // A secret that is shown masked is sent back so, which keeps it.
    write: (config, { type }: { type: ChannelType }) =>
      Object.fromEntries(CONFIGS[type].map(({ path }) => [path, config[path]])),
  } as Member<Record<string, string>>,
  kinds: orAll,
  sourceIds: orAll,
  routeIds: orAll,
  destinationIds: orAll,
  afterCount: asStored<number | null>(1),
  onAcknowledged: asStored(false),
  onResolved: asStored(true),
  throttleMinutes: asStored<number | null>(15),
  quietHours: switched({ from: '22:00', to: '07:00', timeZone: 'UTC' }),
  digestMinutes: asStored<number | null>(null),
  enabled: asStored(true),
};

const { New, Edit, Settings } = recordPages<typeof members, AlertChannel>({
  what: 'alert channel',
  members,
  useEntries: (form, stored) => fieldsOf(form.values, stored !== undefined),
});
export { Edit as EditChannel, New as NewChannel, Settings };

function fieldsOf({ type, config, quietHours }: ValuesOf<typeof members>, isStored: boolean): Entry[] {
  return [
    text('name', 'Name', { isRequired: true }),
    choice('type', 'Type', TYPES, { isFixed: isStored }),
    ...withMasks('config', CONFIGS[type], config),
    section('Issues', [
      choices('kinds', 'Kinds', KINDS, { empty: 'All kinds' }),
      records('sourceIds', 'Sources', 'listSources', { empty: 'All sources' }),
      records('routeIds', 'Routes', 'listRoutes', { empty: 'All routes' }),
      records('destinationIds', 'Destinations', 'listDestinations', { empty: 'All destinations' }),
      whole('afterCount', 'Threshold (failures)'),
    ]),
    section('Schedule', [
      flag('onResolved', 'Notify when an issue is resolved or ignored'),
      flag('onAcknowledged', 'Notify when an issue is acknowledged'),
      [
        whole('throttleMinutes', 'Throttle interval (minutes)', { help: 'Per issue.' }),
        whole('digestMinutes', 'Digest interval (minutes)', { empty: 'No digest' }),
      ],
      flag('quietHours.isOn', 'Quiet hours'),
      quietHours.isOn && [
        text('quietHours.from', 'From', { placeholder: '22:00' }),
        text('quietHours.to', 'To', { placeholder: '07:00' }),
        text('quietHours.timeZone', 'Time zone', { placeholder: 'Europe/Berlin' }),
      ],
    ]),
    enabled(),
  ];
}
