// Makes or changes a destination.
import { NativeSelect } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import type { Destination } from 'hookyard/client';
import { call } from '../../api/client.ts';
import { Page } from '../../components/Page.tsx';
import { EditPage } from '../../components/RecordPage.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { FlagField, NameFields } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { choicesOf } from '../../words/choices.ts';
import { HttpFields } from './HttpFields.tsx';
import { StoreFields } from './StoreFields.tsx';
import { bodyOf, type DestinationValues, FIELDS, NEW, TYPES, valuesOf } from './values.ts';

export function NewDestination() {
  return (
    <Page title="New destination">
      <DestinationForm start={NEW} />
    </Page>
  );
}

export function EditDestination() {
  return (
    <EditPage get="getDestination" title="Edit a destination">
      {(destination) => <DestinationForm key={destination.id} stored={destination} start={valuesOf(destination)} />}
    </EditPage>
  );
}

function DestinationForm({ stored, start }: { stored?: Destination; start: DestinationValues }) {
  const navigate = useNavigate();
  const id = stored?.id;
  const record = useRecordForm<DestinationValues, Destination>({
    start,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getDestination', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = bodyOf(values, changed, id === undefined);
      return id === undefined ? call('createDestination', { body }) : call('updateDestination', { id, body }, terms);
    },
    onSaved: (saved) => {
      const test = saved.type === 'http' ? 'Send a test webhook' : 'Write a test file';
      notifications.show({ message: `Saved. To check it: “${test}”.` });
      void navigate({ to: `/destinations/${saved.id}` });
    },
  });
  const { form } = record;
  const isNew = stored === undefined;
  return (
    <FormFrame
      of={record}
      verb={isNew ? 'Make the destination' : 'Save'}
      onCancel={() => void navigate({ to: isNew ? '/destinations' : `/destinations/${stored.id}` })}
    >
      <NameFields form={form} />
      <NativeSelect
        label="Where deliveries go"
        description={
          isNew ? 'Files need a Pro or Business plan.' : 'It is fixed; make another destination for another place.'
        }
        disabled={!isNew}
        data={choicesOf(TYPES)}
        {...form.getInputProps('type')}
      />
      {form.values.type === 'http' ? (
        <HttpFields form={form} isNew={isNew} />
      ) : (
        <StoreFields form={form} type={form.values.type} isNew={isNew} />
      )}
      <FlagField
        form={form}
        path="enabled"
        label="Enabled"
        description="What would go to one that is not is recorded as skipped, and can be replayed."
      />
    </FormFrame>
  );
}
