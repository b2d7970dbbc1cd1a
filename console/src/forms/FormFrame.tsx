// What is around the fields of a form: what is wrong, a conflict with somebody else's change, and the buttons.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failed } from '../components/Failed.tsx';
import { plain, shortened } from '../format.ts';
import type { Conflict, RecordForm } from './useRecordForm.ts';

interface Props<Values> {
  of: RecordForm<Values>;
  verb: string;
  onCancel?: () => void;
  /** Beside the buttons. */
  extra?: ReactNode;
  isWide?: boolean;
  /** Without it nothing can be changed, and there is no button. */
  mayWrite?: boolean;
  children: ReactNode;
}

export function FormFrame<Values extends object>(props: Props<Values>) {
  const { of, verb, onCancel, extra, isWide = false, mayWrite = true, children } = props;
  const count = Object.keys(of.form.errors).length;
  return (
    <form onSubmit={of.submit} noValidate>
      <Stack maw={isWide ? undefined : 720} gap="sm">
        <fieldset className="plain-fields" disabled={!mayWrite}>
          <Stack gap="sm">{children}</Stack>
        </fieldset>
        {of.conflict && <Resolve conflict={of.conflict} values={of.form.values} settle={of.settle} />}
        {of.problem !== null && <Failed error={of.problem} />}
        {count > 0 && (
          <Text role="alert" c="red">
            {count === 1 ? 'One field is' : `${count} fields are`} not right: it says why.
          </Text>
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
          {extra}
        </Group>
      </Stack>
    </form>
  );
}

const MOST = 300;
const shown = (value: unknown) =>
  plain(shortened(typeof value === 'string' ? value : (JSON.stringify(value) ?? '-'), MOST));

interface ResolveProps<Values> {
  conflict: Conflict<Values>;
  values: Values;
  settle: (keepOwn: boolean) => void;
}

function Resolve<Values extends object>({ conflict, values, settle }: ResolveProps<Values>) {
  const { theirs } = conflict;
  return (
    <Alert color="orange" role="alert" title="Somebody else has changed this record meanwhile">
      <Text size="sm">Nothing was saved, and nothing that you typed is lost.</Text>
      {theirs.length === 0 && (
        <Text size="sm">What they changed has no field here, or cannot be seen: a secret, or a pause.</Text>
      )}
      {theirs.length > 0 && <Table conflict={conflict} values={values} />}
      <Group mt="sm">
        <Button size="xs" onClick={() => settle(true)}>
          Take theirs, but keep what I changed
        </Button>
        <Button size="xs" variant="default" onClick={() => settle(false)}>
          Take theirs, and drop what I changed
        </Button>
      </Group>
    </Alert>
  );
}

function Table<Values extends object>({ conflict, values }: Pick<ResolveProps<Values>, 'conflict' | 'values'>) {
  const { stored, theirs, own } = conflict;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too
    <section className="table" aria-label="What was changed meanwhile" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Stored now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {theirs.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <bdi>{shown(stored[name])}</bdi>
              </td>
              <td>{own.includes(name) ? <bdi>{shown(values[name])}</bdi> : 'not changed by you'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
