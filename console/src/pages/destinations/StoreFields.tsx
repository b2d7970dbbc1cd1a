// The fields of a warehouse: where its files lie, and what is in them.
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { WholeField } from '../../forms/fields.tsx';
import { Secrets } from './Secrets.tsx';
import { CHOICES, type DestinationValues, isFieldOf, type MappingRow, type StoreType, STORES, WAYS } from './values.ts';

type Form = UseFormReturnType<DestinationValues>;

export function StoreFields({ form, type, isNew }: { form: Form; type: StoreType; isNew: boolean }) {
  const { values, errors } = form;
  const fields = STORES[type].filter((field) => isFieldOf(values.config, field));
  return (
    <>
      {WAYS[type] && (
        <NativeSelect label="Who writes is proved by" data={WAYS[type]} {...form.getInputProps('config.credentials')} />
      )}
      <Secrets form={form} member="config" fields={fields} isNew={isNew} />
      {type === 's3' && (
        <NativeSelect
          label="The bucket stands in"
          data={[
            { value: '', label: 'the place that fits the endpoint' },
            { value: 'false', label: 'the name of the server, as AWS wants it' },
            { value: 'true', label: 'the path, as many other stores want it' },
          ]}
          {...form.getInputProps('config.forcePathStyle')}
        />
      )}
      <TextInput
        label="Folder"
        description="Where its files lie in the bucket. Empty: at the top."
        placeholder="webhooks"
        {...form.getInputProps('config.prefix')}
      />
      <Group grow align="start" preventGrowOverflow={false}>
        {CHOICES.map(({ name, label, data }) => (
          <NativeSelect key={name} label={label} data={data} {...form.getInputProps(`config.${name}`)} />
        ))}
      </Group>
      <Group grow align="start" preventGrowOverflow={false}>
        <WholeField
          label="A file is written with so many events"
          value={values.batchSize}
          onChange={(size) => form.setFieldValue('batchSize', size)}
          error={errors['config.batchSize']}
        />
        <WholeField
          label="Or so many bytes of payloads"
          value={values.batchBytes}
          onChange={(bytes) => form.setFieldValue('batchBytes', bytes)}
          error={errors['config.batchBytes']}
        />
        <WholeField
          label="Or when the first has waited for (s)"
          value={values.batchWindowSeconds}
          onChange={(seconds) => form.setFieldValue('batchWindowSeconds', seconds)}
          error={errors['config.batchWindowSeconds']}
        />
      </Group>
      <Columns form={form} />
    </>
  );
}

const COLUMN_TYPES = ['string', 'number', 'decimal', 'boolean', 'timestamp', 'json'];
const NEW_ROW: MappingRow = { source: '$.payload.', target: '', type: 'string', precision: 38, scale: 9, default: '' };

function Columns({ form }: { form: Form }) {
  const rows = form.values.fieldMapping;
  const change = (next: MappingRow[]) => form.setFieldValue('fieldMapping', next);
  const put = (index: number, part: Partial<MappingRow>) =>
    change(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <fieldset className="fields">
      <legend>Columns</legend>
      <Text size="xs" c="dimmed">
        None: a row holds the whole event. A path begins at $.payload, $.headers, $.id, $.receivedAt or $.source.
      </Text>
      <Stack gap="xs">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own while they are typed
          <Group key={index} gap="xs" align="end" role="group" aria-label={`Column ${index + 1}`}>
            <TextInput
              size="xs"
              flex="2 1 160px"
              label="From"
              value={row.source}
              onChange={(event) => put(index, { source: event.currentTarget.value })}
            />
            <TextInput
              size="xs"
              flex="1 1 110px"
              label="Column"
              value={row.target}
              onChange={(event) => put(index, { target: event.currentTarget.value })}
            />
            <NativeSelect
              size="xs"
              label="Type"
              data={COLUMN_TYPES}
              value={row.type}
              onChange={(event) => put(index, { type: event.currentTarget.value as MappingRow['type'] })}
            />
            {row.type === 'decimal' && (
              <>
                <WholeField label="Digits" value={row.precision} onChange={(precision) => put(index, { precision })} />
                <WholeField label="Behind the point" value={row.scale} onChange={(scale) => put(index, { scale })} />
              </>
            )}
            <TextInput
              size="xs"
              flex="1 1 90px"
              label="Else"
              value={row.default}
              onChange={(event) => put(index, { default: event.currentTarget.value })}
            />
            <Button
              size="xs"
              variant="default"
              aria-label={`Remove column ${index + 1}`}
              onClick={() => change(rows.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          </Group>
        ))}
        {form.errors.fieldMapping && (
          <Text size="sm" role="alert" className="problem">
            {form.errors.fieldMapping}
          </Text>
        )}
        <Group>
          <Button size="xs" variant="default" onClick={() => change([...rows, NEW_ROW])}>
            Add a column
          </Button>
        </Group>
      </Stack>
    </fieldset>
  );
}
