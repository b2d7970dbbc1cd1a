// A new secret in the place of one, with an overlap in which both are good.
import { Button, Group, NumberInput, PasswordInput, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { newSigningSecret } from '../signing-secret.ts';
import { copy } from './CopyMenu.tsx';
import { ConfirmedAction } from './ConfirmedAction.tsx';

const DAY_HOURS = 24;
const MOST_HOURS = 168;

interface Props {
  /** `standard`: one of Standard Webhooks, which the console can make; `own`: the one that the sender uses. */
  kind: 'standard' | 'own';
  what: string;
  run: (body: { secret: string; overlapSeconds: number }) => Promise<unknown>;
  children: ReactNode;
}

export function RotateSecret({ kind, what, run, children }: Props) {
  const [secret, setSecret] = useState('');
  const [hours, setHours] = useState(DAY_HOURS);
  const Field = kind === 'standard' ? TextInput : PasswordInput;
  return (
    <ConfirmedAction
      label={`Rotate the ${what}`}
      verb="Rotate it"
      isReady={secret !== ''}
      run={async () => {
        await run({ secret, overlapSeconds: Math.round(hours * 3600) });
        return `The ${what} is rotated`;
      }}
      onDone={() => setSecret('')}
    >
      <Text size="sm" mb="sm">
        {children}
      </Text>
      <Field
        label="New secret"
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
      {kind === 'standard' && (
        <Group gap="xs" my="xs">
          <Button size="xs" variant="default" onClick={() => setSecret(newSigningSecret())}>
            Make one
          </Button>
          <Button size="xs" variant="default" disabled={secret === ''} onClick={() => void copy(secret, 'The secret')}>
            Copy it: it is not shown again
          </Button>
        </Group>
      )}
      <NumberInput
        label="Hours in which both are good"
        description="0: the one before ends now."
        min={0}
        max={MOST_HOURS}
        value={hours}
        onChange={(value) => setHours(Number(value) || 0)}
      />
    </ConfirmedAction>
  );
}
