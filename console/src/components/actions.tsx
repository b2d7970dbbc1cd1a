// Actions of records: a menu, and dialogs that say what will happen before it does.
import { ActionIcon, Button, type ButtonProps, Group, Menu, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { DotsVerticalIcon } from '@radix-ui/react-icons';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call, HookyardError } from '../api/client.ts';
import { told } from '../api/errors.ts';
import { queryClient } from '../api/queries.ts';
import { ifUnchanged } from '../api/versions.ts';
import { plain } from '../format.ts';

interface ConfirmProps {
  title: string;
  /** On the button that does it. */
  verb: string;
  /** What will happen, with counts. */
  children: ReactNode;
  /** Does it. @returns what to say then */
  run: () => Promise<string>;
  /** Waited for: where the record is gone, its page is left before anything is asked for again. */
  onDone?: () => unknown;
  onClose: () => void;
  isDestructive?: boolean;
  isReady?: boolean;
}

/** A dialog, open as long as it is on the page. */
export function Confirm({ title, verb, children, run, onDone, onClose, isDestructive, isReady = true }: ConfirmProps) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const begin = async () => {
    setRunning(true);
    setError(null);
    try {
      notifications.show({ message: await run() });
      await onDone?.();
      onClose();
      void queryClient.invalidateQueries();
    } catch (problem) {
      setError(problem);
      // What is behind the dialog is old: its new state can be decided on at once.
      if (problem instanceof HookyardError && problem.status === 412) void queryClient.invalidateQueries();
    } finally {
      setRunning(false);
    }
  };
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
          Close
        </Button>
        <Button
          color={isDestructive ? 'red.8' : undefined}
          loading={isRunning}
          disabled={!isReady}
          onClick={() => void begin()}
        >
          {verb}
        </Button>
      </Group>
    </Modal>
  );
}

type ActionProps = Omit<ConfirmProps, 'title' | 'onClose'> & {
  label: string;
  title?: string;
  variant?: ButtonProps['variant'];
};

/** A button with its dialog. */
export function ConfirmedAction({ label, title = label, variant = 'default', ...dialog }: ActionProps) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant={variant} onClick={open}>
        {label}
      </Button>
      {isOpen && <Confirm {...dialog} title={title} onClose={close} />}
    </>
  );
}

type Dialogs = Record<string, false | ((close: () => void) => ReactNode)>;

/** A menu whose items open dialogs. */
export function ActionMenu({ of }: { of: Dialogs }) {
  const [open, setOpen] = useState<string | null>(null);
  const dialog = open === null ? undefined : of[open];
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More actions">
            <DotsVerticalIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.keys(of)
            .filter((label) => of[label])
            .map((label) => (
              <Menu.Item key={label} onClick={() => setOpen(label)} c={label === 'Delete' ? 'var(--bad)' : undefined}>
                {label}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      {dialog ? dialog(() => setOpen(null)) : null}
    </>
  );
}

const KINDS = {
  source: { path: '/sources', update: 'updateSource', remove: 'deleteSource' },
  destination: { path: '/destinations', update: 'updateDestination', remove: 'deleteDestination' },
  route: { path: '/routes', update: 'updateRoute', remove: 'deleteRoute' },
  'alert channel': { path: '/alert-channels', update: 'updateAlertChannel', remove: 'deleteAlertChannel' },
} as const;

interface RecordActionsProps {
  kind: keyof typeof KINDS;
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
  const { path, update, remove } = KINDS[kind];
  const { id, enabled } = record;
  const name = plain(record.name);
  const verb = enabled ? 'Disable' : 'Enable';
  const said = kind.charAt(0).toUpperCase() + kind.slice(1);
  const toggle = async () => {
    await call(update, { id, body: { enabled: !enabled } }, ifUnchanged(record));
    return `${said} ${enabled ? 'disabled' : 'enabled'}`;
  };
  const end = async () => {
    await call(remove, { id }, ifUnchanged(record));
    return `${said} deleted`;
  };
  return (
    <>
      <ActionMenu
        of={{
          ...more,
          [verb]: (close) => (
            <Confirm title={`${verb} ${name}`} verb={`${verb} ${kind}`} run={toggle} onClose={close}>
              {enabled ? disabling : enabling}
            </Confirm>
          ),
          Delete: (close) => (
            <Confirm
              title={`Delete ${name}`}
              verb={`Delete ${kind}`}
              isDestructive
              run={end}
              onDone={() => navigate({ to: path })}
              onClose={close}
            >
              {deleting}
              <p>This cannot be undone.</p>
            </Confirm>
          ),
        }}
      />
      <Button onClick={() => void navigate({ to: `${path}/${id}/edit` })}>Edit</Button>
    </>
  );
}
