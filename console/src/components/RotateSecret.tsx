// A new secret in the place of one, with an overlap in which both are valid.
import { Button, NumberInput, PasswordInput, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Confirm } from './actions.tsx';
import { copy } from './ui.tsx';

const DAY_HOURS = 24;
const MOST_HOURS = 168;

interface Props {
  /** `standard`: one of Standard Webhooks, which the console can generate; `own`: the one that the sender uses. */
  kind: 'standard' | 'own';
  run: (body: { secret: string; overlapSeconds: number }) => Promise<unknown>;
  children: ReactNode;
}

export function RotateSecret({ kind, run, children }: Props) {
  const [secret, setSecret] = useState('');
  const [hours, setHours] = useState(DAY_HOURS);
  const Field = kind === 'standard' ? TextInput : PasswordInput;
  const rotate = () => run({ secret, overlapSeconds: Math.round(hours * 3600) });
  return (
    <Confirm title="Rotate secret" isReady={secret !== ''} run={rotate} said="Secret rotated">
      <p>{children}</p>
      <Field
        label="New secret"
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
      {kind === 'standard' && (
        <div className="row">
          <Button variant="default" onClick={() => setSecret(newSigningSecret())}>
            Generate
          </Button>
          <Button variant="default" disabled={secret === ''} onClick={() => void copy(secret, 'Secret')}>
            Copy
          </Button>
          <span className="small quiet">Copy the secret now. It will not be shown again.</span>
        </div>
      )}
      <NumberInput
        label="Overlap (hours)"
        description="With 0, the previous secret expires immediately."
        min={0}
        max={MOST_HOURS}
        value={hours}
        onChange={(value) => setHours(Number(value) || 0)}
      />
    </Confirm>
  );
}

const BYTES = 32;

/** A new secret of Standard Webhooks signatures: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
