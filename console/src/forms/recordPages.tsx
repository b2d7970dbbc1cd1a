// The pages with the form of a record: of a new one, and of one that is stored.
import type { UseFormReturnType } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { Page } from '../components/Page.tsx';
import { EditPage } from '../components/RecordPage.tsx';
import { sentence } from '../format.ts';
import { FormFrame } from './FormFrame.tsx';
import { type Entry, Fields } from './fields.tsx';
import { useRecordForm } from './useRecordForm.ts';

interface Kind<Values, Saved> {
  /** What it is: `route`. */
  what: string;
  /** Of the list. */
  path: string;
  get: Parameters<typeof EditPage>[0]['get'];
  load: (id: string) => Promise<Saved>;
  /** The members whose errors have a field. */
  fields: readonly string[];
  /** What a new one begins with; may use hooks. */
  useStart: () => Values;
  valuesOf: (record: Saved) => Values;
  create: (values: Values, changed: ReadonlySet<string>) => Promise<Saved>;
  update: (id: string, values: Values, changed: ReadonlySet<string>, terms: { ifMatch?: string }) => Promise<Saved>;
  onSaved?: (saved: Saved) => void;
  /** The form; may use hooks. */
  useEntries: (form: UseFormReturnType<Values>, stored: Saved | undefined) => Entry[];
}

export function recordPages<Values extends object, Saved extends { id: string; name: string }>(
  kind: Kind<Values, Saved>,
) {
  const { what, path, get, load, fields, valuesOf, useEntries } = kind;
  const crumb = { to: path, label: `${sentence(what)}s` };

  function Form({ stored, start }: { stored?: Saved; start: Values }) {
    const navigate = useNavigate();
    const record = useRecordForm<Values, Saved>({
      start,
      fields,
      stored: stored && { record: stored, load: () => load(stored.id), valuesOf },
      save: (values, changed, terms) =>
        stored ? kind.update(stored.id, values, changed, terms) : kind.create(values, changed),
      onSaved: (saved) => {
        kind.onSaved?.(saved);
        void navigate({ to: `${path}/${saved.id}` });
      },
    });
    return (
      <FormFrame
        of={record}
        verb={stored ? 'Save' : `Create ${what}`}
        onCancel={() => void navigate({ to: stored ? `${path}/${stored.id}` : path })}
      >
        <Fields form={record.form} of={useEntries(record.form, stored)} />
      </FormFrame>
    );
  }

  return {
    New: () => (
      <Page title={`New ${what}`} crumb={crumb}>
        <Form start={kind.useStart()} />
      </Page>
    ),
    Edit: () => (
      <EditPage get={get} title={`Edit ${what}`} crumb={crumb}>
        {(record) => {
          const stored = record as unknown as Saved;
          return <Form key={stored.id} stored={stored} start={valuesOf(stored)} />;
        }}
      </EditPage>
    ),
  };
}
