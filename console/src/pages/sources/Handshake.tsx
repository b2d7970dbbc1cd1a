// What a source answers to a check of its address.
import { Group, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core';
import type { Form, SourceValues } from './values.ts';

const TYPES: { value: SourceValues['handshake']['type']; label: string }[] = [
  { value: 'none', label: 'Nothing of its own: GET and HEAD are refused' },
  { value: 'ok', label: '200 to GET and HEAD' },
  { value: 'echo', label: 'A parameter of the query' },
  { value: 'hmac', label: 'The HMAC of a parameter of the query' },
];

export function HandshakeFields({ form, hasToken }: { form: Form; hasToken: boolean }) {
  const { type } = form.values.handshake;
  const field = (name: keyof SourceValues['handshake']) => form.getInputProps(`handshake.${name}`);
  return (
    <fieldset className="fields">
      <legend>Check of the address</legend>
      <Stack gap="sm">
        <NativeSelect
          label="Answer to a check"
          description="Some senders send a GET or HEAD before they use an address."
          data={TYPES}
          {...field('type')}
          error={form.errors.handshake ?? form.errors['handshake.type']}
        />
        {(type === 'echo' || type === 'hmac') && (
          <Group grow align="start" preventGrowOverflow={false}>
            <TextInput label="Query parameter" placeholder="challenge" required {...field('parameter')} />
            <TextInput label="JSON member" description="Empty: the answer is text." {...field('member')} />
            {type === 'hmac' && (
              <TextInput
                label="JSON member of the parameter"
                description="Only if it is answered, too."
                {...field('echoMember')}
              />
            )}
          </Group>
        )}
        {type === 'echo' && (
          <PasswordInput
            label="Expected hub.verify_token"
            autoComplete="off"
            description={`Only if the sender sends a token of yours.${hasToken ? ' Empty: the one that is stored stays.' : ''}`}
            {...field('verifyToken')}
          />
        )}
        {type === 'hmac' && (
          <Group grow align="start" preventGrowOverflow={false}>
            <NativeSelect label="HMAC algorithm" data={['sha256', 'sha1', 'sha512']} {...field('algorithm')} />
            <NativeSelect label="HMAC encoding" data={['base64', 'hex', 'base64url']} {...field('encoding')} />
            <TextInput label="HMAC prefix" placeholder="sha256=" {...field('prefix')} />
          </Group>
        )}
      </Stack>
    </fieldset>
  );
}
