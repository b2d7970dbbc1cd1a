// A form for a record: it sends what was changed, puts what the API says about a member at its field, and notices when somebody
// else has changed the record meanwhile. Nothing that was typed is lost by any of these.
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { HookyardError } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { type Placed, placed } from './placed.ts';

/** What somebody else has stored meanwhile. */
export interface Conflict<Values> {
  stored: Values;
  /** Members that they changed. */
  theirs: (keyof Values & string)[];
  /** Members that were changed here. */
  own: (keyof Values & string)[];
}

interface Options<Values, Saved> {
  /** What the form begins with: the record as it was loaded, or the defaults of a new one. */
  start: Values;
  /** The fields that the form shows, as the API names members. */
  fields: readonly string[];
  /** The record as it is stored now; without it the record is a new one. */
  load?: (() => Promise<Values>) | undefined;
  /** Sends members: of a new record all, else those that were changed. */
  save: (values: Values, changed: ReadonlySet<keyof Values & string>) => Promise<Saved>;
  onSaved: (saved: Saved) => void;
}

export interface RecordForm<Values> {
  form: UseFormReturnType<Values>;
  submit: (event?: { preventDefault: () => void }) => void;
  isSaving: boolean;
  /** What is wrong and belongs to no field. */
  problem: unknown;
  conflict: Conflict<Values> | null;
  /** Goes on from what is stored now: with one's own changes laid over it, or without them. */
  settle: (keepOwn: boolean) => void;
  isDirty: boolean;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
function changedIn<Values extends object>(before: Values, after: Values) {
  return (Object.keys(before) as (keyof Values & string)[]).filter((name) => !same(before[name], after[name]));
}

export function useRecordForm<Values extends object, Saved>(options: Options<Values, Saved>): RecordForm<Values> {
  const { fields, load, save, onSaved } = options;
  const [base, setBase] = useState(options.start);
  const form = useForm<Values>({ initialValues: options.start });
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [conflict, setConflict] = useState<Conflict<Values> | null>(null);
  const isDone = useRef(false);
  const isDirty = changedIn(base, form.values).length > 0;
  useBlocker({
    shouldBlockFn: () => isDirty && !isDone.current && !confirm('What you changed is not saved. Leave the page?'),
    enableBeforeUnload: () => isDirty && !isDone.current,
  });

  const place = (error: unknown) => {
    const { atFields, rest }: Placed =
      error instanceof HookyardError ? placed(error, fields) : { atFields: {}, rest: true };
    form.setErrors(atFields);
    setProblem(rest ? error : null);
  };
  const send = async () => {
    const values = form.getValues();
    if (load) {
      const stored = await load();
      const theirs = changedIn(base, stored);
      if (theirs.length > 0) return setConflict({ stored, theirs, own: changedIn(base, values) });
    }
    const saved = await save(values, new Set(load ? changedIn(base, values) : (Object.keys(values) as never)));
    isDone.current = true;
    setBase(values);
    await queryClient.invalidateQueries();
    isDone.current = false;
    onSaved(saved);
  };
  const submit = (event?: { preventDefault: () => void }) => {
    event?.preventDefault();
    if (isSaving) return;
    form.clearErrors();
    setProblem(null);
    setConflict(null);
    setSaving(true);
    void send()
      .catch(place)
      .finally(() => setSaving(false));
  };
  const settle = (keepOwn: boolean) => {
    if (!conflict) return;
    const { stored, own } = conflict;
    const values = form.getValues();
    const kept = keepOwn ? Object.fromEntries(own.map((name) => [name, values[name]])) : {};
    setBase(stored);
    form.setValues({ ...stored, ...kept } as Values);
    setConflict(null);
  };
  return { form, submit, isSaving, problem, conflict, settle, isDirty };
}
