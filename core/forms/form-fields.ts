// The fields of a form, of either kind.

/** A file, or a field that is no text. */
export interface FilePart {
  /** Absent: it has none. */
  filename?: string;
  contentType: string;
  /** Bytes of its content. */
  size: number;
  /** The content, when it is not too large: as text, or in base64 when it is none. */
  text?: string;
  base64?: string;
}

export type FormValue = string | FilePart;

/** By name; a name that comes several times has a list. Nothing nests: `a[b]` is a name like any other. */
export type Form = Record<string, FormValue | FormValue[]>;

/** Most fields that are read: for a stranger nothing is made of more of them. */
export const MAX_FIELDS = 1000;

export function formOf(fields: readonly (readonly [name: string, value: FormValue])[]): Form {
  const values = new Map<string, FormValue[]>();
  for (const [name, value] of fields) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  // Own members only, also of a field called `__proto__`.
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? (all[0] ?? '') : all]));
}
