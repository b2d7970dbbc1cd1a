// A form for a record: it sends what was changed, puts what the API says about a member at its field, and notices when
// somebody else has changed the record meanwhile: the API refuses a change of another version than the form began with.
// Nothing that was typed is lost by any of these.
import { useForm } from '@mantine/form';
import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { HookyardError, ifUnchanged } from '../api/client.ts';
import { askAgain, useTask } from '../api/queries.ts';

/** What somebody else has stored meanwhile. */
export interface Conflict<Values> {
  stored: Values;
  /** Members that they changed. */
  theirs: (keyof Values & string)[];
  /** Members that were changed here. */
  own: (keyof Values & string)[];
}

interface Options<Values, Saved extends object> {
  /** What a new record begins with, or how a stored one is shown. */
  start: Values;
  /** The record that is changed, as it was loaded; without it the record is a new one. */
  stored?: Stored<Values, Saved> | undefined;
  /**
   * Sends members: of a new record all, else those that were changed, and only if it is at the version that the form
   * shows.
   */
  save: (values: Values, changed: ReadonlySet<keyof Values & string>, terms: { ifMatch?: string }) => Promise<Saved>;
  onSaved: (saved: Saved) => void;
}

interface Stored<Values, Saved> {
  record: Saved;
  load: () => Promise<Saved>;
  valuesOf: (record: Saved) => Values;
}

export type RecordForm<Values extends object> = ReturnType<typeof useRecordForm<Values, object>>;

/** Members, and what they have in them, dotted as the API names them. */
const pathsOf = (values: object): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? [name, ...Object.keys(value).map((part) => `${name}.${part}`)]
      : [name],
  );

/** Where the errors of a request belong: one about `headers.X-Shop` goes to `headers`; to no field: to ``. */
function placed(details: HookyardError['details'], fields: readonly string[]): Record<string, string> {
  const longestFirst = fields.toSorted((a, b) => b.length - a.length);
  const atFields: Record<string, string> = {};
  for (const { path, message } of details) {
    const field = longestFirst.find((name) => path === name || path.startsWith(`${name}.`)) ?? '';
    const below = path.slice(field.length + 1);
    const text = below === '' ? message : `${below}: ${message}`;
    atFields[field] = atFields[field] === undefined ? text : `${atFields[field]}; ${text}`;
  }
  return atFields;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
function changedIn<Values extends object>(before: Values, after: Values) {
  return (Object.keys(before) as (keyof Values & string)[]).filter((name) => !same(before[name], after[name]));
}
const isConflict = (error: unknown): boolean => error instanceof HookyardError && error.status === 412;

export function useRecordForm<Values extends object, Saved extends object>(options: Options<Values, Saved>) {
  const { stored, save, onSaved } = options;
  const [base, setBase] = useState(options.start);
  const terms = useRef(ifUnchanged(stored?.record));
  const form = useForm<Values>({ initialValues: options.start });
  const [conflict, setConflict] = useState<Conflict<Values> | null>(null);
  const isDone = useRef(false);
  const isDirty = changedIn(base, form.values).length > 0;
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty && !isDone.current,
    enableBeforeUnload: () => isDirty && !isDone.current,
    withResolver: true,
  });

  /** Somebody else was quicker: what they have stored, beside what was typed. */
  const compare = async ({ load, valuesOf }: Stored<Values, Saved>) => {
    const record = await load();
    const now = valuesOf(record);
    terms.current = ifUnchanged(record);
    setConflict({ stored: now, theirs: changedIn(base, now), own: changedIn(base, form.getValues()) });
  };
  const send = async () => {
    const values = form.getValues();
    const changed = new Set(stored ? changedIn(base, values) : (Object.keys(values) as never));
    const saved = await save(values, changed, terms.current);
    terms.current = ifUnchanged(saved);
    isDone.current = true;
    setBase(values);
    await askAgain();
    isDone.current = false;
    onSaved(saved);
  };
  /** Puts what is wrong at its fields. @throws what belongs to no field */
  const place = (error: unknown) => {
    const details = error instanceof HookyardError ? error.details : [];
    const { '': elsewhere, ...atFields } = placed(details, pathsOf(base));
    form.setErrors(atFields);
    if (details.length === 0 || elsewhere !== undefined) throw error;
  };
  const { mutate, isPending, error } = useTask();
  const submit = (event?: { preventDefault: () => void }) => {
    event?.preventDefault();
    if (isPending || conflict) return;
    form.clearErrors();
    mutate(() =>
      send()
        .catch((refusal: unknown) => (stored && isConflict(refusal) ? compare(stored) : Promise.reject(refusal)))
        .catch(place),
    );
  };
  /** Continues from what is stored now: with one's own changes laid over it, or without them. */
  const settle = (keepOwn: boolean) => {
    if (!conflict) return;
    const { stored: now, own } = conflict;
    const values = form.getValues();
    const kept = keepOwn ? Object.fromEntries(own.map((name) => [name, values[name]])) : {};
    setBase(now);
    form.setValues({ ...now, ...kept } as Values);
    setConflict(null);
  };
  return {
    ...{ form, submit, isDirty, conflict, settle },
    isSaving: isPending,
    /** What is wrong and belongs to no field. */
    problem: error,
    /** Set while somebody wants to leave the page with unsaved changes. */
    leaving: blocker.status === 'blocked' ? { discard: blocker.proceed, stay: blocker.reset } : null,
  };
}
