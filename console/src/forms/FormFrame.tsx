// What is around the fields of a form: what is wrong, a conflict with somebody else's change, and the buttons.
import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { Failed } from '../components/Failed.tsx';
import { Callout, Table } from '../components/ui.tsx';
import { plain, plural, shortened } from '../format.ts';
import { Problem } from './Conditions.tsx';
import type { Conflict, RecordForm } from './useRecordForm.ts';

interface Props<Values extends object> {
  of: RecordForm<Values>;
  verb: string;
  onCancel?: () => void;
  isWide?: boolean;
  /** Without it nothing can be changed, and there is no button. */
  mayWrite?: boolean;
  children: ReactNode;
}

export function FormFrame<Values extends object>(props: Props<Values>) {
  const { of, verb, onCancel, isWide = false, mayWrite = true, children } = props;
  const count = Object.keys(of.form.errors).length;
  const element = useRef<HTMLFormElement>(null);
  const before = useRef(0);
  useEffect(() => {
    // A correction takes errors away one by one, and must not move the focus.
    if (count > before.current)
      element.current
        ?.querySelector<HTMLElement>(':is(input, select, textarea):is([aria-invalid], [data-invalid])')
        ?.focus();
    before.current = count;
  }, [count]);
  const submit = (event: FormEvent) => {
    // To React a form in a dialog is inside the form that opened it.
    event.stopPropagation();
    of.submit(event);
  };
  return (
    <form ref={element} onSubmit={submit} noValidate className={isWide ? undefined : 'form'}>
      <Stack gap="sm">
        <fieldset className="plain-fields" disabled={!mayWrite}>
          <Stack gap="sm">{children}</Stack>
        </fieldset>
        {of.conflict && <Resolve conflict={of.conflict} values={of.form.values} settle={of.settle} />}
        {of.leaving && <Discard {...of.leaving} />}
        {of.problem !== null && <Failed error={of.problem} />}
        {count > 0 && (
          <Problem>
            {plural(count, 'field')} {count === 1 ? 'needs' : 'need'} your attention
          </Problem>
        )}
        <Group>
          {mayWrite && (
            <Button type="submit" loading={of.isSaving} disabled={of.conflict !== null}>
              {verb}
            </Button>
          )}
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function Discard({ discard, stay }: { discard: () => void; stay: () => void }) {
  return (
    <Modal opened onClose={stay} title="Discard unsaved changes?">
      <Group justify="end">
        <Button variant="default" onClick={stay}>
          Keep editing
        </Button>
        <Button color="red.8" onClick={discard}>
          Discard changes
        </Button>
      </Group>
    </Modal>
  );
}

const MOST = 300;
const shown = (value: unknown) =>
  plain(shortened(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'), MOST));

interface ResolveProps<Values> {
  conflict: Conflict<Values>;
  values: Values;
  settle: (keepOwn: boolean) => void;
}

function Resolve<Values extends object>({ conflict, values, settle }: ResolveProps<Values>) {
  const { stored, theirs, own } = conflict;
  return (
    <Callout tone="warn" role="alert" title="Changed by someone else">
      <p>
        Nothing was saved, and nothing you typed was lost.
        {theirs.length === 0 && ' The other change affects a secret or a pause, which this form does not show.'}
      </p>
      {theirs.length > 0 && (
        <Table
          title="Changed fields"
          heads={['Field', 'Current value', 'Your value']}
          rows={theirs.map((name) => [
            name,
            <bdi key="theirs">{shown(stored[name])}</bdi>,
            own.includes(name) ? <bdi key="own">{shown(values[name])}</bdi> : 'unchanged',
          ])}
        />
      )}
      <Group mt="sm">
        <Button onClick={() => settle(true)}>Keep my changes</Button>
        <Button variant="default" onClick={() => settle(false)}>
          Discard my changes
        </Button>
      </Group>
    </Callout>
  );
}
