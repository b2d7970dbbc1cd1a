// Creates or changes an alert channel.
import { useNavigate } from '@tanstack/react-router';
import type { AlertChannel } from 'hookyard/client';
import { call } from '../../api/client.ts';
import { Page } from '../../components/Page.tsx';
import { EditPage } from '../../components/RecordPage.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { ENABLED, type Entry, Fields } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { choicesOf } from '../../words/choices.ts';
import { KIND_CHOICES } from '../../words/issues.ts';
import { bodyOf, type ChannelValues, CONFIGS, FIELDS, NEW, TYPES, valuesOf } from './values.ts';

const crumb = { to: '/alert-channels', label: 'Alert channels' };

export function NewChannel() {
  return (
    <Page title="New alert channel" crumb={crumb}>
      <ChannelForm start={NEW} />
    </Page>
  );
}

export function EditChannel() {
  return (
    <EditPage get="getAlertChannel" title="Edit alert channel" crumb={crumb}>
      {(channel) => <ChannelForm key={channel.id} stored={channel} start={valuesOf(channel)} />}
    </EditPage>
  );
}

function ChannelForm({ stored, start }: { stored?: AlertChannel; start: ChannelValues }) {
  const navigate = useNavigate();
  const id = stored?.id;
  const record = useRecordForm<ChannelValues, AlertChannel>({
    start,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getAlertChannel', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = bodyOf(values, changed);
      return id === undefined
        ? call('createAlertChannel', { body })
        : call('updateAlertChannel', { id, body: body as never }, terms);
    },
    onSaved: (saved) => void navigate({ to: `/alert-channels/${saved.id}` }),
  });
  const { form } = record;
  return (
    <FormFrame
      of={record}
      verb={stored ? 'Save' : 'Create alert channel'}
      onCancel={() => void navigate({ to: stored ? `/alert-channels/${stored.id}` : '/alert-channels' })}
    >
      <Fields form={form} of={fieldsOf(form.values, stored !== undefined)} />
      {form.errors.config && (
        <p role="alert" className="bad">
          {form.errors.config}
        </p>
      )}
    </FormFrame>
  );
}

function fieldsOf(values: ChannelValues, isStored: boolean): Entry[] {
  return [
    { path: 'name', label: 'Name', isRequired: true },
    { path: 'type', label: 'Type', choices: choicesOf(TYPES), isFixed: isStored },
    ...CONFIGS[values.type].map(({ name, label, help, choices }) => {
      const isMasked = isStored && String(values.config[name]).startsWith('•');
      return {
        ...{ path: `config.${name}`, label, isRequired: true },
        choices: choices?.map((value) => ({ value, label: value })),
        help: [help, isMasked && 'Leave as it is to keep the current value.'].filter(Boolean).join(' ') || undefined,
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
