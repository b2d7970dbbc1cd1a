// An action that is asked about first: a button, and a dialog that says what will happen.
import { Button, type ButtonProps, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { type ReactNode, useState } from 'react';
import { HookyardError } from '../api/client.ts';
import { told } from '../api/errors.ts';
import { queryClient } from '../api/queries.ts';
import { plain } from '../format.ts';

interface Props {
  /** On the button that opens the dialog, and the dialog's title. */
  label: string;
  title?: string;
  /** On the button that does it. */
  verb: string;
  /** What will happen, with counts; asked for when the dialog is open. */
  children: ReactNode;
  /** Does it. @returns what to say then */
  run: () => Promise<string>;
  /** Waited for: where the record is gone, its page is left before anything is asked for again. */
  onDone?: () => unknown;
  isDestructive?: boolean;
  isReady?: boolean;
  variant?: ButtonProps['variant'];
}

export function ConfirmedAction({
  label,
  title = label,
  verb,
  children,
  run,
  onDone,
  variant = 'default',
  ...how
}: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const begin = async () => {
    setRunning(true);
    setError(null);
    try {
      notifications.show({ message: await run() });
      close();
      await onDone?.();
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
    <>
      <Button
        size="xs"
        variant={variant}
        onClick={() => {
          setError(null);
          open();
        }}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        {children}
        {error !== null && (
          <Text role="alert" c="red" mt="sm" className="anywhere">
            {told(error).title}: {plain(told(error).message)}
          </Text>
        )}
        <Group justify="end" mt="md">
          <Button variant="default" onClick={close}>
            Close
          </Button>
          <Button
            color={how.isDestructive ? 'red' : undefined}
            loading={isRunning}
            disabled={how.isReady === false}
            onClick={() => void begin()}
          >
            {verb}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
