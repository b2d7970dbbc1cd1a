// Actions of records: a menu, and dialogs that say what will happen before it does.
import { Button, NumberInput, PasswordInput, TextInput, type ButtonProps, Group, Menu, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState, createContext, use } from 'react';
import { call, HookyardError, ifUnchanged, told } from '../api/client.ts';
import { askAgain, refetch, operationOf, pathOf, type RecordKind } from '../api/queries.ts';
import { plain, plural, sentence } from '../format.ts';
import { DotsVerticalIcon } from './icons.tsx';
import { copy, IconButton } from './ui.tsx';

/** Closes the dialog that something is in. */
const Close = createContext(() => {});

interface ConfirmProps<Result> {
  title: string;
  /** On the button that does it; without it the title. */
  verb?: string;
  /** What will happen, with counts. */
  children: ReactNode;
  run: () => Promise<Result>;
  /** What to say when it is done; without it the page says so. */
  said?: string | ((result: Result) => string);
  /** Waited for: where the record is gone, its page is left before anything is asked for again. */
  onDone?: () => unknown;
  isDestructive?: boolean;
  isReady?: boolean;
}

/** A dialog of a button or a menu, open as long as it is on the page. */
export function Confirm<Result>({ isReady = true, ...props }: ConfirmProps<Result>) {
  const { title, verb = title, children, run, said, onDone, isDestructive } = props;
  const onClose = use(Close);
  const { mutate, isPending, error } = useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      if (said !== undefined) notifications.show({ message: typeof said === 'string' ? said : said(result) });
      await onDone?.();
      onClose();
      void askAgain();
    },
    onError: (problem) => {
      // What is behind the dialog is old: its new state can be decided on at once.
      if (problem instanceof HookyardError && problem.status === 412) void refetch();
    },
  });
  return (
    <Modal opened onClose={onClose} title={title}>
      <div className="stack">
        {children}
        {error !== null && (
          <p role="alert" className="bad anywhere">
            {told(error).title}: {plain(told(error).message)}
          </p>
        )}
      </div>
      <Group justify="end" mt="md">
        <Button variant="default" onClick={onClose}>
          {verb.startsWith('Cancel') ? 'Close' : 'Cancel'}
        </Button>
        <Button
          color={isDestructive ? 'red.8' : undefined}
          loading={isPending}
          disabled={!isReady}
          onClick={() => mutate()}
        >
          {verb}
        </Button>
      </Group>
    </Modal>
  );
}

type ActionProps<Result> = Omit<ConfirmProps<Result>, 'title'> & {
  label: string;
  title?: string;
  variant?: ButtonProps['variant'];
};

/** A button with its dialog. */
export function ConfirmedAction<Result>({ label, title = label, variant = 'default', ...dialog }: ActionProps<Result>) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant={variant} onClick={open}>
        {label}
      </Button>
      {isOpen && (
        <Close value={close}>
          <Confirm {...dialog} title={title} />
        </Close>
      )}
    </>
  );
}

/** Delivers a stored event again. @param destinationIds none: to all of its routes */
export const replayEvent = (id: string, destinationIds: string[] = []) =>
  call('replayEvent', { id, ...(destinationIds.length > 0 && { body: { destinationIds } }) });
export const createdText = ({ deliveriesCreated }: { deliveriesCreated: number }): string =>
  `${plural(deliveriesCreated, 'delivery')} created`;

/** By the labels of what opens them; false: not offered. */
type Dialogs = Record<string, ReactNode>;

/** The menu of a page. @param children its items */
export const MoreActions = ({ children }: { children: ReactNode }) => (
  <Menu>
    <Menu.Target>
      <IconButton label="More actions">
        <DotsVerticalIcon />
      </IconButton>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);

/** A menu whose items open dialogs. */
export function ActionMenu({ of }: { of: Dialogs }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <>
      <MoreActions>
        {Object.keys(of)
          .filter((label) => of[label])
          .map((label) => (
            <Menu.Item key={label} onClick={() => setOpen(label)} c={label === 'Delete' ? 'var(--bad)' : undefined}>
              {label}
            </Menu.Item>
          ))}
      </MoreActions>
      {open !== null && <Close value={() => setOpen(null)}>{of[open]}</Close>}
    </>
  );
}

interface DeleteProps {
  kind: RecordKind;
  of: { id: string; name: string };
  isReady?: boolean;
  /** What deleting means. */
  children: ReactNode;
}

export function ConfirmDelete({ kind, of: record, children, ...dialog }: DeleteProps) {
  const navigate = useNavigate();
  return (
    <Confirm
      {...dialog}
      title={`Delete ${plain(record.name)}`}
      verb={`Delete ${kind}`}
      isDestructive
      run={() => call(operationOf('delete', kind), { id: record.id }, ifUnchanged(record))}
      said={`${sentence(kind)} deleted`}
      onDone={() => navigate({ to: pathOf(kind) })}
    >
      {children}
    </Confirm>
  );
}

interface RecordActionsProps {
  kind: RecordKind;
  of: { id: string; name: string; enabled: boolean };
  /** What disabling, enabling and deleting mean. */
  disabling: ReactNode;
  enabling: ReactNode;
  deleting: ReactNode;
  /** Before the others. */
  more?: Dialogs;
}

/** Edit, and a menu: what is special to the kind, disable or enable, delete. */
export function RecordActions({ kind, of: record, disabling, enabling, deleting, more = {} }: RecordActionsProps) {
  const navigate = useNavigate();
  const { id, enabled } = record;
  const verb = enabled ? 'Disable' : 'Enable';
  const input = { id, body: { enabled: !enabled } };
  return (
    <>
      <ActionMenu
        of={{
          ...more,
          [verb]: (
            <Confirm
              title={`${verb} ${plain(record.name)}`}
              verb={`${verb} ${kind}`}
              run={() => call(operationOf('update', kind), input, ifUnchanged(record))}
              said={`${sentence(kind)} ${enabled ? 'disabled' : 'enabled'}`}
            >
              {enabled ? disabling : enabling}
            </Confirm>
          ),
          Delete: (
            <ConfirmDelete kind={kind} of={record}>
              {deleting}
              <p>This cannot be undone.</p>
            </ConfirmDelete>
          ),
        }}
      />
      <Button onClick={() => void navigate({ to: `${pathOf(kind)}/${id}/edit` })}>Edit</Button>
    </>
  );
}

// A new secret in the place of one, with an overlap in which both are valid.

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
