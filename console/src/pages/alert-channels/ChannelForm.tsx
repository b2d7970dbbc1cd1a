// Creates or changes an alert channel.
import type { AlertChannel } from '@hookyard/client';
import { ENABLED, type Entry } from '../../forms/fields.tsx';
import { type Member, asStored, type ValuesOf } from '../../forms/members.ts';
import { recordPages } from '../../forms/recordPages.tsx';
import { choicesOf } from '../../format.ts';
import { KIND_CHOICES } from '../../words/issues.ts';
import { CONFIGS, TYPES } from './types.ts';

type ChannelType = AlertChannel['type'];

const NO_QUIET_HOURS = { isOn: false, from: '22:00', to: '07:00', timeZone: 'UTC' };

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
      Object.fromEntries(CONFIGS[type].map(({ name }) => [name, config[name]])),
  } as Member<Record<string, string>>,
  kinds: orAll,
  sourceIds: orAll,
  routeIds: orAll,
  destinationIds: orAll,
  afterCount: asStored<number | null>(1),
  onAcknowledged: asStored(false),
  onResolved: asStored(true),
  throttleMinutes: asStored<number | null>(15),
  quietHours: {
    start: NO_QUIET_HOURS,
    read: (stored: AlertChannel['quietHours']) => (stored ? { isOn: true, ...stored } : NO_QUIET_HOURS),
    write: ({ isOn, ...quietHours }) => (isOn ? quietHours : null),
  } as Member<typeof NO_QUIET_HOURS>,
  digestMinutes: asStored<number | null>(null),
  enabled: asStored(true),
};

const { New, Edit, Settings } = recordPages<typeof members, AlertChannel>({
  what: 'alert channel',
  members,
  useEntries: (form, stored) => fieldsOf(form.values, stored !== undefined),
});
export { Edit as EditChannel, New as NewChannel, Settings };

function fieldsOf(values: ValuesOf<typeof members>, isStored: boolean): Entry[] {
  return [
    { path: 'name', label: 'Name', isRequired: true },
    { path: 'type', label: 'Type', choices: choicesOf(TYPES), isFixed: isStored },
    ...CONFIGS[values.type].map(({ name, label, help, choices }) => {
      const isMasked = isStored && String(values.config[name]).startsWith('•');
      return {
        ...{ path: `config.${name}`, label, isRequired: true },
        choices: choices?.map((value) => ({ value, label: value })),
        help: [help, isMasked && 'Leave unchanged to keep the current value.'].filter(Boolean).join(' ') || undefined,
      };
    }),
    {
      title: 'Issues',
      fields: [
        { path: 'kinds', label: 'Kinds', choices: KIND_CHOICES, isMany: true, empty: 'All kinds' },
        { path: 'sourceIds', label: 'Sources', list: 'listSources', isMany: true, empty: 'All sources' },
        { path: 'routeIds', label: 'Routes', list: 'listRoutes', isMany: true, empty: 'All routes' },
        {
          ...{ path: 'destinationIds', label: 'Destinations', list: 'listDestinations', isMany: true },
          empty: 'All destinations',
        },
        { path: 'afterCount', label: 'Threshold (failures)', kind: 'whole' },
      ],
    },
    {
      title: 'Schedule',
      fields: [
        { path: 'onResolved', label: 'Notify when an issue is resolved or ignored', kind: 'flag' },
        { path: 'onAcknowledged', label: 'Notify when an issue is acknowledged', kind: 'flag' },
        [
          { path: 'throttleMinutes', label: 'Throttle interval (minutes)', help: 'Per issue.', kind: 'whole' },
          { path: 'digestMinutes', label: 'Digest interval (minutes)', empty: 'No digest', kind: 'whole' },
        ],
        { path: 'quietHours.isOn', label: 'Quiet hours', kind: 'flag' },
        values.quietHours.isOn && [
          { path: 'quietHours.from', label: 'From', placeholder: '22:00' },
          { path: 'quietHours.to', label: 'To', placeholder: '07:00' },
          { path: 'quietHours.timeZone', label: 'Time zone', placeholder: 'Europe/Berlin' },
        ],
      ],
    },
    ENABLED,
  ];
}
