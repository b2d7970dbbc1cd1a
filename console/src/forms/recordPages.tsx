// The pages with the form of a record: of a new one, and of one that is stored.
import { Modal } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../api/client.ts';
import { useAsk, crumbOf, operationOf, pathOf, type RecordKind } from '../api/queries.ts';
import { Loaded } from '../components/Failed.tsx';
import { Page } from '../components/Page.tsx';
import { Card, Facts, type FactValues } from '../components/ui.tsx';
import { plain } from '../format.ts';
import { Time } from '../zone.tsx';
import { FormFrame } from './FormFrame.tsx';
import { type Entry, errorsBeside, factsOf, Fields } from './fields.tsx';
import { bodyOf, startOf, type ValuesOf, valuesOf } from './members.ts';
import { useRecordForm } from './useRecordForm.ts';

interface Kind<M, Saved> {
  what: RecordKind;
  members: M;
  /** What a new one begins with beside the defaults; may use hooks. */
  useStart?: () => Partial<ValuesOf<M>>;
  /** On a page of its own, not in a dialog. */
  onSaved?: (saved: Saved) => void;
  /** The form; may use hooks. */
  useEntries: (form: UseFormReturnType<ValuesOf<M>>, stored: Saved | undefined) => Entry[];
}

/** A time that a record may not have, beside its settings. */
export const exactTime = (at: string | null | undefined): ReactNode => at != null && <Time at={at} exact />;

/** The form of a record: of a new one that begins with `start`, or of one that is stored. */
export function useMembersForm<M extends object, Saved extends { id: string }>(
  { what, members }: { what: RecordKind; members: M },
  { stored, start, onSaved }: { stored: Saved | undefined; start: ValuesOf<M>; onSaved: (saved: Saved) => void },
) {
  return useRecordForm<ValuesOf<M>, Saved>({
    start,
    stored: stored && {
      record: stored,
      load: () => call(operationOf('get', what), { id: stored.id }) as Promise<unknown> as Promise<Saved>,
      valuesOf: (one) => valuesOf(members, one),
    },
    save: (values, changed, terms) => {
      const body = bodyOf(members, values, changed, !stored);
      const saved = stored
        ? call(operationOf('update', what), { id: stored.id, body }, terms)
        : call(operationOf('create', what), { body } as never);
      return saved as Promise<unknown> as Promise<Saved>;
    },
    onSaved,
  });
}

export function recordPages<M extends object, Saved extends { id: string; name: string }>(kind: Kind<M, Saved>) {
  const { what, members, useStart = () => ({}), useEntries } = kind;
  const path = pathOf(what);

  interface FormProps {
    stored?: Saved;
    start: ValuesOf<M>;
    /** Without these two the page of the record, or that of its list, is opened. */
    onSaved?: (saved: Saved) => void;
    onCancel?: () => void;
  }

  function Form({ stored, start, ...then }: FormProps) {
    const navigate = useNavigate();
    const open = ({ id }: Saved) => void navigate({ to: `${path}/${id}` });
    const leave = () => (stored ? open(stored) : void navigate({ to: path }));
    const { onSaved = open, onCancel = leave } = then;
    const record = useMembersForm<M, Saved>(kind, {
      ...{ stored, start },
      onSaved: (saved) => {
        if (then.onSaved === undefined) kind.onSaved?.(saved);
        onSaved(saved);
      },
    });
    const { form } = record;
    const entries = useEntries(form, stored);
    return (
      <FormFrame of={record} verb={stored ? 'Save' : `Create ${what}`} onCancel={onCancel}>
        <Fields form={form} of={[...entries, errorsBeside(entries, form.errors)]} />
      </FormFrame>
    );
  }

  return {
    New: () => (
      <Page title={`New ${what}`} crumb={crumbOf(what)}>
        <Form start={{ ...startOf(members), ...useStart() }} />
      </Page>
    ),
    /** A new one, made beside the form of another record. */
    NewDialog: ({ onSaved, onClose }: { onSaved: (saved: Saved) => void; onClose: () => void }) => (
      <Modal opened onClose={onClose} title={`New ${what}`} size="lg" closeOnClickOutside={false}>
        <Form start={startOf(members)} onSaved={onSaved} onCancel={onClose} />
      </Modal>
    ),
    Edit: () => {
      const { id = '' } = useParams({ strict: false }) as { id?: string };
      const answer = useAsk(operationOf('get', what), { id });
      const stored = answer.data as unknown as Saved | undefined;
      return (
        <Page title={`Edit ${stored ? plain(stored.name) : what}`} crumb={crumbOf(what)}>
          <Loaded answer={{ ...answer, data: stored }}>
            {/* By its id: it begins with what is stored when it is opened. */}
            {(one) => <Form key={one.id} stored={one} start={valuesOf(members, one)} />}
          </Loaded>
        </Page>
      );
    },
    /** What is stored, in the words of the form. Its key is to be the version: it shows one. */
    Settings: ({ of, more }: { of: Saved; more?: FactValues }) => {
      const form = useForm<ValuesOf<M>>({ initialValues: valuesOf(members, of) });
      return (
        <Card>
          <Facts isWide of={[...factsOf(useEntries(form, of), form.values), ...Object.entries(more ?? {})]} />
        </Card>
      );
    },
  };
}
