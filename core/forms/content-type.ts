// What a content type says of a form (RFC 9110, section 8.3; RFC 2046, section 5.1.1).

export type FormType = { kind: 'urlencoded' } | { kind: 'multipart'; boundary: string };

// `; name=value` or `; name="value"`. Some senders put spaces around the equals sign.
const PARAMETER = /;[ \t]*([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
// RFC 2046: 1 to 70 of these, and no space at the end.
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
const READ_CHARSETS = ['utf-8', 'utf8', 'us-ascii'];

/** Null: it is no form, or one that cannot be read. Of a header that came several times the first value counts. */
export function formTypeOf(contentTypes: string | undefined): FormType | null {
  const contentType = firstOf(contentTypes ?? '');
  const [type = ''] = contentType.split(';', 1);
  switch (type.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded': {
      const charset = parametersOf(contentType).get('charset') || 'utf-8';
      return READ_CHARSETS.includes(charset.toLowerCase()) ? { kind: 'urlencoded' } : null;
    }
    case 'multipart/form-data': {
      const boundary = parametersOf(contentType).get('boundary') ?? '';
      return BOUNDARY.test(boundary) ? { kind: 'multipart', boundary } : null;
    }
    default:
      return null;
  }
}

/** What stands before a comma that is not in quotes. */
function firstOf(values: string): string {
  let isQuoted = false;
  for (let at = 0; at < values.length; at += 1) {
    const character = values[at];
    if (character === ',' && !isQuoted) return values.slice(0, at);
    if (character === '"') isQuoted = !isQuoted;
    if (character === '\\' && isQuoted) at += 1;
  }
  return values;
}

/** The parameters behind a value of a header, names in lower case; of a repeated one the first counts. */
export function parametersOf(value: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? plain);
  }
  return found;
}
