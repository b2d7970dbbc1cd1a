// Where the errors of a request belong: at the field of the member that they name.
import type { HookyardError } from '@hookyard/client';

export interface Placed {
  atFields: Record<string, string>;
  /** Whether something is left that no field shows. */
  rest: boolean;
}

/** @param fields as the API names members, dotted: an error about `headers.X-Shop` goes to `headers` */
export function placed({ details }: HookyardError, fields: readonly string[]): Placed {
  const atFields: Record<string, string> = {};
  let rest = details.length === 0;
  for (const { path, message } of details) {
    const [field] = fields
      .filter((name) => path === name || path.startsWith(`${name}.`))
      .toSorted((a, b) => b.length - a.length);
    if (field === undefined) rest = true;
    else {
      const below = path.slice(field.length + 1);
      const text = below === '' ? message : `${below}: ${message}`;
      atFields[field] = atFields[field] === undefined ? text : `${atFields[field]}; ${text}`;
    }
  }
  return { atFields, rest };
}
