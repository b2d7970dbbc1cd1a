// What the owner of a source says of a sender that is no provider which Hookyard knows.
import { Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { WholeField } from '../../forms/fields.tsx';
import type { Form, SourceValues } from './values.ts';

type Config = SourceValues['verificationConfig'];

export const KINDS: { value: Config['type']; label: string }[] = [
  { value: 'none', label: 'Nothing: anyone who knows the address may send' },
  { value: 'provider', label: 'A provider that Hookyard knows' },
  { value: 'hmac', label: 'A signature (HMAC) of another sender' },
  { value: 'hmac_template', label: 'A signature (HMAC) of more than time and body' },
  { value: 'public_key', label: 'A signature by a private key' },
  { value: 'jwt', label: 'A JSON Web Token' },
  { value: 'header_token', label: 'A token in a header' },
  { value: 'basic', label: 'User and password' },
  { value: 'query_token', label: 'A token in the query' },
  { value: 'body_token', label: 'A token in the body' },
  { value: 'github', label: 'GitHub, by the secret alone' },
  { value: 'stripe', label: 'Stripe, by the secret alone' },
  { value: 'slack', label: 'Slack, by the secret alone' },
];

const ALGORITHMS: Partial<Record<Config['type'], Config['algorithm'][]>> = {
  hmac: ['sha256', 'sha1', 'sha512'],
  hmac_template: ['sha256', 'sha1', 'sha512'],
  public_key: ['ecdsa', 'ed25519', 'rsa'],
  jwt: ['RS256', 'ES256', 'HS256'],
};

/** What the fields that several types have begin with, as the API has it where it has a default. */
export function startOf(type: string): Partial<Config> {
  const algorithm = ALGORITHMS[type as Config['type']]?.[0];
  return {
    ...(algorithm !== undefined && { algorithm }),
    encoding: type === 'public_key' ? 'base64' : 'hex',
    ...(type === 'jwt' && { header: 'Authorization' }),
  };
}

export function Described({ form }: { form: Form }) {
  switch (form.values.verificationConfig.type) {
    case 'hmac_template':
    case 'public_key':
      return <Template form={form} />;
    case 'jwt':
      return <Token form={form} />;
    case 'header_token':
      return (
        <Group grow align="start" preventGrowOverflow={false}>
          <TextInput label="Header of the token" placeholder="X-Token" required {...field(form, 'header')} />
          <TextInput label="Text before it" placeholder="Token " {...field(form, 'prefix')} />
        </Group>
      );
    case 'query_token':
      return <TextInput label="Parameter of the token" placeholder="key" required {...field(form, 'parameter')} />;
    case 'body_token':
      return <TextInput label="Path of the token" placeholder="$.token" required {...field(form, 'path')} />;
    default:
      return null;
  }
}

const field = (form: Form, name: keyof Config) => form.getInputProps(`verificationConfig.${name}`);

function Tolerance({ form }: { form: Form }) {
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  return (
    <WholeField
      label="Seconds that the time may be off"
      value={form.values.verificationConfig.toleranceSeconds}
      onChange={(value) => set('verificationConfig.toleranceSeconds', value)}
      error={form.errors['verificationConfig.toleranceSeconds']}
    />
  );
}

function Template({ form }: { form: Form }) {
  const { type } = form.values.verificationConfig;
  return (
    <>
      <TextInput label="Header of the signature" placeholder="X-Signature" required {...field(form, 'header')} />
      <Textarea
        label="What is signed"
        description="{timestamp}, {id}, {method}, {url} and {body}, with what stands between them."
        autosize
        minRows={1}
        {...field(form, 'template')}
      />
      <Group grow align="start" preventGrowOverflow={false}>
        <NativeSelect label="Algorithm" data={ALGORITHMS[type] ?? []} {...field(form, 'algorithm')} />
        <NativeSelect label="Encoding" data={['hex', 'base64', 'base64url']} {...field(form, 'encoding')} />
        {type === 'hmac_template' && (
          <NativeSelect
            label="The secret is"
            data={[
              { value: 'text', label: 'a text' },
              { value: 'hex', label: 'a key in hex' },
              { value: 'base64', label: 'a key in base64' },
            ]}
            {...field(form, 'secretEncoding')}
          />
        )}
      </Group>
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput label="Text before it" placeholder="sha256=" {...field(form, 'prefix')} />
        <TextInput label="Between several signatures" {...field(form, 'listSeparator')} />
      </Group>
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput
          label="Part of the signature"
          description="Only of a header such as t=1,v1=abc."
          placeholder="v1"
          {...field(form, 'signaturePart')}
        />
        <TextInput label="Part of the time" placeholder="t" {...field(form, 'timestampPart')} />
        <TextInput label="Between parts" {...field(form, 'partSeparator')} />
      </Group>
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput label="Header of the time" {...field(form, 'timestampHeader')} />
        <NativeSelect
          label="The time is"
          data={[
            { value: 's', label: 'seconds since 1970' },
            { value: 'ms', label: 'milliseconds since 1970' },
            { value: 'rfc3339', label: 'a date (RFC 3339)' },
          ]}
          {...field(form, 'timestampUnit')}
        />
        <Tolerance form={form} />
      </Group>
      <TextInput label="Header of the id" {...field(form, 'idHeader')} />
    </>
  );
}

function Token({ form }: { form: Form }) {
  const isPublished = form.values.verificationConfig.algorithm !== 'HS256';
  return (
    <>
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput label="Header of the token" required {...field(form, 'header')} />
        <NativeSelect label="Algorithm" data={ALGORITHMS.jwt ?? []} {...field(form, 'algorithm')} />
        <Tolerance form={form} />
      </Group>
      {isPublished && (
        <TextInput
          label="Address of the keys"
          description="The JSON Web Key Set of the sender."
          placeholder="https://issuer.example.com/.well-known/jwks.json"
          required
          {...field(form, 'jwksUrl')}
        />
      )}
      <Group grow align="start" preventGrowOverflow={false}>
        <TextInput label="Issuer" {...field(form, 'issuer')} />
        <TextInput label="Audience" {...field(form, 'audience')} />
        <TextInput
          label="Claim with the hash of the body"
          description="SHA-256 in hex."
          {...field(form, 'bodyHashClaim')}
        />
      </Group>
      <Textarea
        label="Claims"
        description="name: value, one in a line. Tokens must have them."
        autosize
        minRows={1}
        {...field(form, 'claims')}
      />
    </>
  );
}
