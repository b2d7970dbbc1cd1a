// Makes or changes an alert channel.
import { Checkbox, Group, MultiSelect, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import type { AlertChannel } from 'hookyard/client';
import { call } from '../../api/client.ts';
import { Page } from '../../components/Page.tsx';
import { EditPage } from '../../components/RecordPage.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { FlagField, RecordsField, WholeField } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { choicesOf } from '../../words/choices.ts';
import { KIND_CHOICES } from '../../words/issues.ts';
import { bodyOf, type ChannelValues, CONFIGS, FIELDS, NEW, TYPES, valuesOf } from './values.ts';

export function NewChannel() {
  return (
    <Page title="New alert channel">
      <ChannelForm start={NEW} />
    </Page>
  );
}

export function EditChannel() {
  return (
    <EditPage get="getAlertChannel" title="Edit an alert channel">
      {(channel) => <ChannelForm key={channel.id} stored={channel} start={valuesOf(channel)} />}
    </EditPage>
  );
}

type Form = UseFormReturnType<ChannelValues>;
const AT_ONCE = { transitionProps: { duration: 0 } };

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
      verb={stored ? 'Save' : 'Make the channel'}
      onCancel={() => void navigate({ to: stored ? `/alert-channels/${stored.id}` : '/alert-channels' })}
    >
      <TextInput label="Name" required {...form.getInputProps('name')} />
      <NativeSelect
        label="Where messages go"
        description={stored ? 'It is fixed; make another channel for another place.' : undefined}
        disabled={stored !== undefined}
        data={choicesOf(TYPES)}
        {...form.getInputProps('type')}
      />
      <Config form={form} isNew={stored === undefined} />
      <Which form={form} />
      <When form={form} />
      <FlagField form={form} path="enabled" label="Enabled" />
    </FormFrame>
  );
}

function Config({ form, isNew }: { form: Form; isNew: boolean }) {
  return (
    <>
      {form.errors.config && (
        <Text role="alert" size="sm" className="problem">
          {form.errors.config}
        </Text>
      )}
      {CONFIGS[form.values.type].map(({ name, label, help, choices }) => {
        const field = form.getInputProps(`config.${name}`);
        if (choices) return <NativeSelect key={name} label={label} data={choices} {...field} />;
        const isMasked = !isNew && String(form.values.config[name]).startsWith('•');
        const kept = isMasked ? 'It is not shown. Left as it is, it stays.' : '';
        return (
          <TextInput
            key={name}
            label={label}
            description={[help, kept].filter(Boolean).join(' ') || undefined}
            autoComplete="off"
            required
            {...field}
          />
        );
      })}
    </>
  );
}

function Which({ form }: { form: Form }) {
  const { values, errors } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <fieldset className="fields">
      <legend>Which issues it tells of</legend>
      <Stack gap="sm">
        <MultiSelect
          label="What fails"
          searchable
          description="None chosen: all."
          value={values.kinds}
          error={errors.kinds}
          onChange={(kinds) => set('kinds', kinds)}
          data={KIND_CHOICES}
          comboboxProps={AT_ONCE}
        />
        <RecordsField
          label="Of these sources"
          list="listSources"
          value={values.sourceIds}
          onChange={(ids) => set('sourceIds', ids)}
          error={errors.sourceIds}
        />
        <RecordsField
          label="Of these routes"
          list="listRoutes"
          value={values.routeIds}
          onChange={(ids) => set('routeIds', ids)}
          error={errors.routeIds}
        />
        <RecordsField
          label="Of these destinations"
          list="listDestinations"
          value={values.destinationIds}
          onChange={(ids) => set('destinationIds', ids)}
          error={errors.destinationIds}
        />
        <WholeField
          label="From so many failures on"
          value={values.afterCount}
          onChange={(value) => set('afterCount', value)}
          error={errors.afterCount}
        />
      </Stack>
    </fieldset>
  );
}

function When({ form }: { form: Form }) {
  const { values, errors } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <fieldset className="fields">
      <legend>When</legend>
      <Stack gap="sm">
        <FlagField form={form} path="onResolved" label="Also when an issue is resolved or ignored" />
        <FlagField form={form} path="onAcknowledged" label="Also when somebody acknowledges one" />
        <Group grow align="start" preventGrowOverflow={false}>
          <WholeField
            label="Minutes between two about an issue"
            value={values.throttleMinutes}
            onChange={(value) => set('throttleMinutes', value)}
            error={errors.throttleMinutes}
          />
          <WholeField
            label="Digest interval (minutes)"
            placeholder="one message each"
            value={values.digestMinutes}
            onChange={(value) => set('digestMinutes', value)}
            error={errors.digestMinutes}
          />
        </Group>
        <Checkbox label="Quiet hours, every day" {...form.getInputProps('quietHours.isOn', { type: 'checkbox' })} />
        {errors.quietHours && (
          <Text role="alert" size="sm" className="problem">
            {errors.quietHours}
          </Text>
        )}
        {values.quietHours.isOn && (
          <Group grow align="start" preventGrowOverflow={false}>
            <TextInput label="From" placeholder="22:00" {...form.getInputProps('quietHours.from')} />
            <TextInput label="To" placeholder="07:00" {...form.getInputProps('quietHours.to')} />
            <TextInput label="Time zone" placeholder="Europe/Berlin" {...form.getInputProps('quietHours.timeZone')} />
          </Group>
        )}
      </Stack>
    </fieldset>
  );
}
