// The fields of an HTTP destination.
import { Button, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { copy } from '../../components/CopyMenu.tsx';
import { FlagField, PairsField, WholeField } from '../../forms/fields.tsx';
import { newSigningSecret } from '../../signing-secret.ts';
import { choicesOf } from '../../words/choices.ts';
import { Secrets } from './Secrets.tsx';
import { AUTH_TYPES, CREDENTIALS, type DestinationValues } from './values.ts';

interface Props {
  form: UseFormReturnType<DestinationValues>;
  isNew: boolean;
}

export function HttpFields({ form, isNew }: Props) {
  const { values, errors } = form;
  return (
    <>
      <Group align="start" preventGrowOverflow={false}>
        <NativeSelect label="Method" data={['POST', 'PUT', 'PATCH']} {...form.getInputProps('method')} />
        <TextInput flex="1 1 260px" label="Address" placeholder="https://" required {...form.getInputProps('url')} />
      </Group>
      <Proof form={form} isNew={isNew} />
      <PairsField
        label="Headers that each delivery gets"
        value={values.headers}
        onChange={(headers) => form.setFieldValue('headers', headers)}
        error={errors.headers}
      />
      <NativeSelect
        label="Received headers that it gets too"
        data={[
          { value: 'usual', label: 'all but those that steer servers' },
          { value: 'all', label: 'all' },
          { value: 'none', label: 'none' },
          { value: 'names', label: 'those of these names' },
        ]}
        {...form.getInputProps('forwardHeaders')}
      />
      {values.forwardHeaders === 'names' && (
        <TextInput
          label="Their names"
          description="With commas in between."
          placeholder="X-GitHub-Event, X-GitHub-Delivery"
          {...form.getInputProps('forwardedNames')}
        />
      )}
      <FlagField
        form={form}
        path="forwardQuery"
        label="It gets the query of a webhook too"
        description="Added to where it is; a parameter that it has itself keeps its value."
      />
      <FlagField form={form} path="forwardPath" label="It gets the path of a webhook below its source too" />
      <Attempts form={form} />
    </>
  );
}

function Proof({ form, isNew }: Props) {
  const { authType, signingSecret } = form.values;
  return (
    <fieldset className="fields">
      <legend>Authentication and signature</legend>
      <Stack gap="sm">
        <NativeSelect label="Authentication" data={choicesOf(AUTH_TYPES)} {...form.getInputProps('authType')} />
        <Secrets form={form} member="authConfig" fields={CREDENTIALS[authType]} isNew={isNew} />
        <Group align="end" gap="xs" preventGrowOverflow={false}>
          <TextInput
            flex="1 1 260px"
            label="Signing secret"
            description="Standard Webhooks: whsec_ and base64. Empty: deliveries are not signed."
            autoComplete="off"
            {...form.getInputProps('signingSecret')}
          />
          {signingSecret === '' && (
            <Button variant="default" onClick={() => form.setFieldValue('signingSecret', newSigningSecret())}>
              Make one
            </Button>
          )}
          {signingSecret !== '' && !signingSecret.startsWith('•') && (
            <Button variant="default" onClick={() => void copy(signingSecret, 'The secret')}>
              Copy it: it is not shown again
            </Button>
          )}
        </Group>
      </Stack>
    </fieldset>
  );
}

function Attempts({ form }: Pick<Props, 'form'>) {
  const { values, errors } = form;
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const whole = (path: string, value: number | null) => ({
    value,
    onChange: (next: number | null) => set(path, next),
    error: errors[path],
  });
  const { retryPolicy: policy } = values;
  return (
    <fieldset className="fields">
      <legend>Attempts</legend>
      <Stack gap="sm">
        <Group grow align="start" preventGrowOverflow={false}>
          <WholeField label="Retries, at most" {...whole('retryPolicy.maxRetries', policy.maxRetries)} />
          <WholeField label="First retry after (ms)" {...whole('retryPolicy.initialDelay', policy.initialDelay)} />
        </Group>
        <Group grow align="start" preventGrowOverflow={false}>
          <NumberInput
            label="Each wait is so many times the one before"
            clampBehavior="none"
            value={policy.backoffMultiplier ?? ''}
            onChange={(next) => set('retryPolicy.backoffMultiplier', next === '' ? null : Number(next))}
            error={errors['retryPolicy.backoffMultiplier']}
          />
          <WholeField label="Longest wait (ms)" {...whole('retryPolicy.maxDelay', policy.maxDelay)} />
        </Group>
        <WholeField label="Timeout of an attempt (ms)" {...whole('timeoutMs', values.timeoutMs)} />
        <Group grow align="start" preventGrowOverflow={false}>
          <WholeField
            label="Attempts a minute, at most"
            placeholder="any"
            {...whole('rateLimitPerMinute', values.rateLimitPerMinute)}
          />
          <WholeField
            label="Attempts at a time, at most"
            placeholder="as many as it copes with"
            {...whole('maxConcurrency', values.maxConcurrency)}
          />
        </Group>
      </Stack>
    </fieldset>
  );
}
