// Makes or changes a source.
import { Checkbox, Group, NativeSelect, PasswordInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Provider, Source } from 'hookyard/client';
import { useAll } from '../../api/all.ts';
import { call } from '../../api/client.ts';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { EditPage } from '../../components/RecordPage.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { FlagField, NameFields, WholeField } from '../../forms/fields.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { slugOf } from '../start/slug.ts';
import { Instructions } from './Connect.tsx';
import { Described, KINDS, startOf } from './Described.tsx';
import { HandshakeFields } from './Handshake.tsx';
import { bodyOf, FIELDS, type Form, NEW, type SourceValues, valuesOf } from './values.ts';

export function NewSource() {
  return (
    <Page title="New source">
      <SourceForm start={NEW} />
    </Page>
  );
}

export function EditSource() {
  return (
    <EditPage get="getSource" title="Edit a source">
      {(source) => <SourceForm key={source.id} stored={source} start={valuesOf(source)} />}
    </EditPage>
  );
}

function SourceForm({ stored, start }: { stored?: Source; start: SourceValues }) {
  const navigate = useNavigate();
  const id = stored?.id;
  const record = useRecordForm<SourceValues, Source>({
    start,
    fields: FIELDS,
    stored: stored && { record: stored, load: () => call('getSource', { id: stored.id }), valuesOf },
    save: (values, changed, terms) => {
      const body = bodyOf(values, changed);
      return id === undefined
        ? call('createSource', { body })
        : call('updateSource', { id, body: body as never }, terms);
    },
    onSaved: (saved) => void navigate({ to: `/sources/${saved.id}` }),
  });
  const { form } = record;
  return (
    <FormFrame
      of={record}
      verb={stored ? 'Save' : 'Make the source'}
      onCancel={() => void navigate({ to: stored ? `/sources/${stored.id}` : '/sources' })}
    >
      <NameFields form={form} />
      <Slug form={form} isFixed={stored !== undefined} />
      <Verification form={form} hasSecret={stored !== undefined} />
      <Address form={form} />
      <HandshakeFields form={form} hasToken={stored?.handshake?.verifyToken !== undefined} />
      <Repeats form={form} />
      <Answer form={form} />
      <FlagField form={form} path="enabled" label="Enabled" description="A source that is not refuses its webhooks." />
    </FormFrame>
  );
}

function Slug({ form, isFixed }: { form: Form; isFixed: boolean }) {
  const proposed = slugOf(form.values.name);
  return (
    <TextInput
      label="Slug"
      description={
        isFixed ? 'It is fixed: senders have the address.' : 'Part of the address: small letters, digits and hyphens.'
      }
      required
      disabled={isFixed}
      placeholder={proposed}
      {...form.getInputProps('slug')}
      onFocus={() => form.values.slug === '' && form.setFieldValue('slug', proposed)}
    />
  );
}

function Verification({ form, hasSecret }: { form: Form; hasSecret: boolean }) {
  const { data, error, refetch } = useAll('listProviders');
  const { provider, verificationConfig: config } = form.values;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const known = data?.records.find(({ name }) => name === provider);
  return (
    <fieldset className="fields">
      <legend>Who may send</legend>
      <Stack gap="sm">
        <NativeSelect
          label="What proves who sends"
          value={config.type}
          error={form.errors.verificationConfig}
          onChange={({ currentTarget: { value } }) => {
            set('verificationConfig.type', value);
            for (const [name, its] of Object.entries(startOf(value))) set(`verificationConfig.${name}`, its);
          }}
          data={KINDS}
        />
        {config.type === 'provider' && (
          <Select
            label="Provider"
            required
            searchable
            nothingFoundMessage="None of this name. Take a signature (HMAC) instead."
            value={provider || null}
            error={form.errors.provider}
            onChange={(name) => set('provider', name ?? '')}
            data={(data?.records ?? []).map(({ name, title }) => ({ value: name, label: title }))}
            comboboxProps={{ transitionProps: { duration: 0 } }}
          />
        )}
        {error && <Failed error={error} again={() => void refetch()} />}
        {config.type === 'provider' && known && <Instructions of={known} />}
        {config.type !== 'none' && <Secrets form={form} of={known} hasSecret={hasSecret} />}
        {config.type === 'provider' && known?.handshakes.includes('subscription') && (
          <Checkbox
            label="Confirm subscriptions"
            description="Hookyard opens the address that confirms one. Otherwise it is shown with the source, for you to open."
            checked={config.confirmSubscriptions === true}
            onChange={(event) => set('verificationConfig.confirmSubscriptions', event.currentTarget.checked)}
          />
        )}
        {config.type === 'hmac' && <Hmac form={form} />}
        <Described form={form} />
      </Stack>
    </fieldset>
  );
}

function Secrets({ form, of: provider, hasSecret }: { form: Form; of: Provider | undefined; hasSecret: boolean }) {
  const { type } = form.values.verificationConfig;
  const { algorithm } = form.values.verificationConfig;
  const isTold =
    type === 'provider' ? provider !== undefined && provider.secret !== null : type !== 'jwt' || algorithm === 'HS256';
  const keeps = hasSecret ? ' Empty: the one that is stored stays.' : '';
  return (
    <>
      {isTold && (
        <PasswordInput
          label="Secret"
          autoComplete="off"
          description={`${type === 'provider' ? (provider?.secret ?? '') : (SECRETS[type] ?? 'What the sender signs with')}.${keeps}`}
          {...form.getInputProps('verificationConfig.secret')}
        />
      )}
      {type === 'provider' && provider && provider.verifyToken !== null && (
        <PasswordInput
          label="Verify token"
          autoComplete="off"
          description={`${provider.verifyToken}.${keeps}`}
          {...form.getInputProps('verificationConfig.verifyToken')}
        />
      )}
    </>
  );
}

const SECRETS: Partial<Record<SourceValues['verificationConfig']['type'], string>> = {
  public_key: 'The public key of the sender: PEM, or base64',
  basic: 'User and password, with a colon between',
  header_token: 'The token',
  query_token: 'The token',
  body_token: 'The token',
};

function Hmac({ form }: { form: Form }) {
  const field = (name: string) => form.getInputProps(`verificationConfig.${name}`);
  return (
    <>
      <TextInput label="Header of the signature" placeholder="X-Signature" required {...field('header')} />
      <Group grow align="start" preventGrowOverflow={false}>
        <NativeSelect label="Algorithm" data={['sha256', 'sha1', 'sha512']} {...field('algorithm')} />
        <NativeSelect label="Encoding" data={['hex', 'base64', 'base64url']} {...field('encoding')} />
        <TextInput label="Text before it" placeholder="sha256=" {...field('prefix')} />
      </Group>
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput
          label="Header of the time"
          description="Only if the sender signs a time too."
          {...field('timestampHeader')}
        />
        <TextInput label="Between time and body" description="As it is signed." {...field('timestampSeparator')} />
      </Group>
    </>
  );
}

function Address({ form }: { form: Form }) {
  return (
    <>
      <NativeSelect
        label="An unguessable part at the end of the address"
        data={[
          { value: 'none', label: 'No' },
          { value: 'optional', label: 'Yes; the address without it is valid too' },
          { value: 'required', label: 'Yes, required' },
        ]}
        {...form.getInputProps('ingestToken')}
      />
      <FlagField
        form={form}
        path="concealed"
        label="Concealed"
        description="Webhooks without a valid signature are answered as if there were no such source."
      />
      <FlagField
        form={form}
        path="allowPaths"
        label="Paths below the address"
        description="Webhooks to any path below it are taken too; filters, transforms and destinations can use the path."
      />
    </>
  );
}

/** What the place of the key is called, and an example. */
const KEY_LABELS = {
  header: ['Header', 'X-Request-Id'],
  jsonPath: ['JSONPath', '$.id'],
  query: ['Parameter', 'delivery'],
} as const;

function Repeats({ form }: { form: Form }) {
  const { by, windowSeconds } = form.values.idempotencyKey;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <fieldset className="fields">
      <legend>Repeats</legend>
      <Stack gap="sm">
        <NativeSelect
          label="A repeated webhook is known by"
          value={by}
          error={form.errors.idempotencyKey}
          onChange={(event) => set('idempotencyKey.by', event.currentTarget.value)}
          data={[
            { value: 'none', label: 'Nothing: each is stored' },
            { value: 'header', label: 'A header' },
            { value: 'jsonPath', label: 'A member of the payload, or a field of a form' },
            { value: 'query', label: 'A parameter of the query' },
            { value: 'signature', label: 'Its signature' },
          ]}
        />
        {(by === 'header' || by === 'jsonPath' || by === 'query') && (
          <TextInput
            label={KEY_LABELS[by][0]}
            placeholder={KEY_LABELS[by][1]}
            required
            {...form.getInputProps('idempotencyKey.at')}
          />
        )}
        {by !== 'none' && (
          <WholeField
            label="For so many seconds"
            value={windowSeconds}
            onChange={(value) => set('idempotencyKey.windowSeconds', value)}
            error={form.errors['idempotencyKey.windowSeconds']}
          />
        )}
      </Stack>
    </fieldset>
  );
}

function Answer({ form }: { form: Form }) {
  const { isOwn, status } = form.values.answer;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <fieldset className="fields">
      <legend>What the sender is answered</legend>
      <Stack gap="sm">
        <Checkbox
          label="Another answer than the id of the event"
          {...form.getInputProps('answer.isOwn', { type: 'checkbox' })}
        />
        {form.errors.answer && (
          <Text role="alert" size="sm" className="problem">
            {form.errors.answer}
          </Text>
        )}
        {isOwn && (
          <>
            <Group grow align="start" preventGrowOverflow={false}>
              <WholeField
                label="Status"
                value={status}
                onChange={(value) => set('answer.status', value)}
                error={form.errors['answer.status']}
              />
              <TextInput label="Content type" {...form.getInputProps('answer.contentType')} />
            </Group>
            <Textarea label="Body" autosize minRows={2} {...form.getInputProps('answer.body')} />
          </>
        )}
      </Stack>
    </fieldset>
  );
}
