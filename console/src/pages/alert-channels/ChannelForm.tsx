// Creates or changes an alert channel.
import type { AlertChannel } from '@hookyard/client';
import { call } from '../../api/client.ts';
import { ENABLED, type Entry, errorOf } from '../../forms/fields.tsx';
import { recordPages } from '../../forms/recordPages.tsx';
import { choicesOf } from '../../words/choices.ts';
import { KIND_CHOICES } from '../../words/issues.ts';
import { bodyOf, type ChannelValues, CONFIGS, FIELDS, NEW, TYPES, valuesOf } from './values.ts';

const { New, Edit } = recordPages<ChannelValues, AlertChannel>({
  what: 'alert channel',
  path: '/alert-channels',
  get: 'getAlertChannel',
  load: (id) => call('getAlertChannel', { id }),
  fields: FIELDS,
  useStart: () => NEW,
  valuesOf,
  create: (values, changed) => call('createAlertChannel', { body: bodyOf(values, changed) }),
  update: (id, values, changed, terms) =>
    call('updateAlertChannel', { id, body: bodyOf(values, changed) as never }, terms),
  useEntries: (form, stored) => [...fieldsOf(form.values, stored !== undefined), errorOf(form.errors.config)],
});
export const NewChannel = New;
export const EditChannel = Edit;

function fieldsOf(values: ChannelValues, isStored: boolean): Entry[] {
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
        { path: 'kinds', label: 'Kinds', choices: KIND_CHOICES, isMany: true, placeholder: 'All kinds' },
        { path: 'sourceIds', label: 'Sources', list: 'listSources', isMany: true, placeholder: 'All sources' },
        { path: 'routeIds', label: 'Routes', list: 'listRoutes', isMany: true, placeholder: 'All routes' },
        {
          ...{ path: 'destinationIds', label: 'Destinations', list: 'listDestinations', isMany: true },
          placeholder: 'All destinations',
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
          { path: 'digestMinutes', label: 'Digest interval (minutes)', placeholder: 'No digest', kind: 'whole' },
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
