// Makes or changes a route.
import { Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import type { Route } from 'hookyard/client';
import { call } from '../../api/client.ts';
import { Page } from '../../components/Page.tsx';
import { EditPage } from '../../components/RecordPage.tsx';
import { Conditions, NEW_ROW } from '../../forms/Conditions.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { FlagField, NameFields, RecordField, RecordsField, WholeField } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { usePageSearch } from '../../search.ts';
import { choicesOf } from '../../words/choices.ts';
import { bodyOf, FIELDS, NEW, type RouteValues, valuesOf } from './values.ts';

const LANES: Readonly<Record<NonNullable<Route['lane']>, string>> = {
  adaptive: 'adaptive: a workflow while there is room',
  workflow: 'workflow: always a workflow',
  express: 'express: the relay itself',
};

export function NewRoute() {
  const [{ sourceId, destinationId }] = usePageSearch();
  const start = { ...NEW, sourceId: sourceId ?? null, destinationIds: destinationId ? [destinationId] : [] };
  return (
    <Page title="New route">
      <RouteForm start={start} />
    </Page>
  );
}

export function EditRoute() {
  return (
    <EditPage get="getRoute" title="Edit a route">
      {(route) => <RouteForm key={route.id} stored={route} start={valuesOf(route)} />}
    </EditPage>
  );
}

function RouteForm({ stored, start }: { stored?: Route; start: RouteValues }) {
  const navigate = useNavigate();
  const id = stored?.id;
  const record = useRecordForm<RouteValues, Route>({
    start,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getRoute', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = bodyOf(values, changed);
      return id === undefined ? call('createRoute', { body: body as never }) : call('updateRoute', { id, body }, terms);
    },
    onSaved: (saved) => void navigate({ to: `/routes/${saved.id}` }),
  });
  const { form } = record;
  const { values } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <FormFrame
      of={record}
      verb={stored ? 'Save' : 'Make the route'}
      onCancel={() => void navigate({ to: stored ? `/routes/${stored.id}` : '/routes' })}
    >
      <NameFields form={form} />
      <RecordField
        label="Source"
        description={stored ? 'It is fixed; make another route for another source.' : undefined}
        list="listSources"
        value={values.sourceId}
        onChange={(sourceId) => set('sourceId', sourceId)}
        error={form.errors.sourceId}
        required
        disabled={stored !== undefined}
      />
      <RecordsField
        label="Destinations"
        description="Each gets every webhook that the route takes."
        list="listDestinations"
        value={values.destinationIds}
        onChange={(ids) => set('destinationIds', ids)}
        error={form.errors.destinationIds}
        most={50}
        required
      />
      <FilterFields form={form} />
      <RecordField
        label="Schema"
        description="Payloads that do not match are not delivered."
        list="listSchemas"
        value={values.schemaId}
        onChange={(schemaId) => set('schemaId', schemaId)}
        error={form.errors.schemaId}
      />
      <RecordField
        label="Transform"
        description="Makes the body that is sent; without it the payload is sent as received."
        list="listTransforms"
        value={values.transformId}
        onChange={(transformId) => set('transformId', transformId)}
        error={form.errors.transformId}
      />
      <Failures form={form} />
      <Mails form={form} />
      <Others form={form} />
    </FormFrame>
  );
}

type Form = { form: UseFormReturnType<RouteValues> };

function FilterFields({ form }: Form) {
  const { values } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const kind = values.filterConditions !== null ? 'own' : values.filterId !== null ? 'record' : 'none';
  const choose = (next: string) => {
    set('filterConditions', next === 'own' ? [NEW_ROW] : null);
    set('filterId', next === 'record' ? '' : null);
  };
  return (
    <>
      <NativeSelect
        label="Which webhooks it takes"
        value={kind}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: 'none', label: 'All of the source' },
          { value: 'record', label: 'Those of a filter' },
          { value: 'own', label: 'Those that meet conditions of its own' },
        ]}
      />
      {kind === 'record' && (
        <RecordField
          label="Filter"
          list="listFilters"
          value={values.filterId}
          onChange={(filterId) => set('filterId', filterId ?? '')}
          error={form.errors.filterId}
          required
        />
      )}
      {values.filterConditions !== null && (
        <Conditions
          rows={values.filterConditions}
          onChange={(rows) => set('filterConditions', rows)}
          logic={values.filterLogic}
          onLogic={(logic) => set('filterLogic', logic)}
          error={form.errors.filterConditions}
        />
      )}
    </>
  );
}

function Failures({ form }: Form) {
  const { values, errors } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const whole = (name: keyof RouteValues & string) => ({
    value: values[name] as number | null,
    onChange: (value: number | null) => set(name, value),
    error: errors[name],
  });
  return (
    <fieldset className="fields">
      <legend>When a destination fails</legend>
      <Stack gap="sm">
        <RecordsField
          label="Failover destinations"
          description="At most three, in this order. They get what the others do not take."
          list="listDestinations"
          leaveOut={values.destinationIds}
          value={values.failoverDestinationIds}
          onChange={(ids) => set('failoverDestinationIds', ids)}
          error={errors.failoverDestinationIds}
          most={3}
        />
        <Group grow align="start" preventGrowOverflow={false}>
          <WholeField label="Fail over after so many failed attempts" {...whole('failoverAfterAttempts')} />
          <WholeField label="Open the circuit after so many in a row" {...whole('circuitFailureThreshold')} />
        </Group>
        <Group grow align="start" preventGrowOverflow={false}>
          <WholeField label="It stays open for so many seconds" {...whole('circuitCooldownSeconds')} />
          <WholeField label="Close it after so many probes that succeed" {...whole('circuitProbeSuccessThreshold')} />
        </Group>
        <TextInput
          label="Status codes that are a success"
          description="With commas in between; empty: any 2xx."
          placeholder="200, 202"
          {...form.getInputProps('expectedResponse.statusCodes')}
        />
        <TextInput label="Text that the answer must contain" {...form.getInputProps('expectedResponse.bodyContains')} />
      </Stack>
    </fieldset>
  );
}

function Mails({ form }: Form) {
  return (
    <fieldset className="fields">
      <legend>Mails</legend>
      <Stack gap="xs">
        <TextInput label="To" description="Addresses with commas in between." {...form.getInputProps('notifyEmails')} />
        <FlagField form={form} path="notifyOnFailure" label="When a delivery has failed for good" />
        <FlagField form={form} path="notifyOnRecovery" label="When it works again" />
        <FlagField form={form} path="notifyOnSuccess" label="Of every success, once a minute" />
        <Text size="xs" c="dimmed">
          Alert channels tell of failures that last, also to Slack, Teams, PagerDuty or a webhook.
        </Text>
      </Stack>
    </fieldset>
  );
}

function Others({ form }: Form) {
  const { values, errors } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <>
      <WholeField
        label="Priority"
        description="Routes of a source run from high to low."
        value={values.priority}
        onChange={(value) => set('priority', value)}
        error={errors.priority}
      />
      <NativeSelect
        label="First attempts are made by"
        value={values.lane ?? ''}
        error={errors.lane}
        onChange={(event) => set('lane', event.currentTarget.value || null)}
        data={[{ value: '', label: 'as the server is set' }, ...choicesOf(LANES)]}
      />
      <Checkbox
        label="It may deliver to this Hookyard itself"
        {...form.getInputProps('allowOwnAddress', { type: 'checkbox' })}
      />
      <FlagField form={form} path="enabled" label="Enabled" description="A route that is not takes no webhooks." />
    </>
  );
}
