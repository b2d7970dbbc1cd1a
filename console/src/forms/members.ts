// A record as its form holds it, and back as the API takes it: each member is described once.

export interface Member<Value> {
  /** Of a new record: the default of the API. */
  start: Value;
  /** As the form holds what is stored. */
  read: (stored: never) => Value;
  /** As the API takes it; undefined: it is not sent. */
  write: (value: Value, values: never, isNew: boolean) => unknown;
  /** It is sent with a change of these, too. */
  with?: string[];
}

export type Members = Record<string, Member<never>>;
export type ValuesOf<M> = { [Name in keyof M]: M[Name] extends Member<infer Value> ? Value : never };

/** Held as it is stored. */
export const asStored = <Value>(start: Value): Member<Value> => ({
  start,
  read: (stored: Value | null | undefined) => stored ?? start,
  write: (value) => value,
});

/** A text; null is stored for an empty one. */
export const optional: Member<string> = { ...asStored(''), write: (text) => text || null };

/** An object that may be off, for which null is stored. */
export const switched = <Value extends object>(start: Value): Member<Value & { isOn: boolean }> => ({
  start: { isOn: false, ...start },
  read: (stored: Value | null) => ({ isOn: stored !== null, ...(stored ?? start) }),
  write: ({ isOn, ...value }) => (isOn ? value : null),
});

/** Most records have these. */
export const NAMED = { name: asStored(''), description: optional };

const byName = (members: Members, valueIn: (member: Member<unknown>, name: string) => unknown) =>
  Object.fromEntries(
    Object.entries(members).map(([name, one]) => [name, valueIn(one as unknown as Member<unknown>, name)]),
  );

export const startOf = <M>(members: M) => byName(members as Members, ({ start }) => start) as ValuesOf<M>;

export const valuesOf = <M>(members: M, record: object) =>
  byName(members as Members, ({ read }, name) => read(record[name as never])) as ValuesOf<M>;

/** The members that are sent: of a new record all, else those that were changed. */
export function bodyOf<M>(members: M, values: ValuesOf<M>, changed: ReadonlySet<string>, isNew: boolean): object {
  const all = byName(members as Members, (one, name) => one.write(values[name as keyof M], values as never, isNew));
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => {
      const parts = [name, ...((members as Members)[name]?.with ?? [])];
      return value !== undefined && (isNew || parts.some((part) => changed.has(part)));
    }),
  );
}

/** Texts in one field, with commas or spaces in between. */
export const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
