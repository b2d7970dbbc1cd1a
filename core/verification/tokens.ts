// Senders that do not sign: they send a secret that they share with the source. It proves nothing about the body, and
// what stands in a header or in the query is taken out of what is stored and forwarded.
import { readPayload, readShortFields } from '../forms/forms.ts';
import { lookupPath, parsePath } from '../text/dotted-path.ts';
import {
  FORM,
  header,
  headerOf,
  isSameSecret,
  JOINED,
  jsonBytes,
  jsonOf,
  type Mac,
  memberOf,
  refuse,
  type SchemeKind,
  type Unsigned,
  untrustedJson,
} from './scheme.ts';

const isSigned = () => false;

/** Compares first, so that a refusal takes as long with a wrong prefix. */
function requireToken(given: unknown, secret: string, hasPrefix = true): Mac {
  const isSame = typeof given === 'string' && isSameSecret(given, secret);
  if (!isSame || !hasPrefix) refuse("The token does not match the source's token");
  return null;
}

/** Anyone may send who knows the address. */
export const noneKind: SchemeKind<{ kind: 'none' }> = {
  verify: () => null,
  sign: () => ({}),
  isSigned,
  needsSecret: () => false,
};

export const headerTokenKind: SchemeKind<{ kind: 'header-token'; header: string; prefix?: string }> = {
  verify({ header: name, prefix = '' }, { secret }, request) {
    const value = headerOf(request, name);
    // RFC 9110, section 11.1: the name of an authentication scheme ignores case, and any number of spaces may follow
    // it.
    const isBehind = value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
    const given = prefix.endsWith(' ') ? value.slice(prefix.length).trimStart() : value.slice(prefix.length);
    return requireToken(given, secret, isBehind);
  },
  sign: ({ header: name, prefix = '' }, secret) => ({ headers: { [name]: prefix + secret } }),
  secretProblem: (_scheme, secret) => (secret.includes(JOINED) ? 'must not contain a comma followed by a space' : null),
  secretHeaders: ({ header: name }) => [name, 'X-Hook-Secret'],
  token: ({ header: name }) => ({ header: name }),
  isSigned,
};

export const basicKind: SchemeKind<{ kind: 'basic' }> = {
  verify(_scheme, { secret }, request) {
    const [, given] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headerOf(request, 'Authorization')) ?? [];
    if (given === undefined) return refuse('The Authorization header does not contain a username and password');
    return requireToken(Buffer.from(given, 'base64').toString('utf8'), secret);
  },
  sign: (_scheme, secret) => ({ headers: { Authorization: `Basic ${Buffer.from(secret).toString('base64')}` } }),
  // RFC 7617, section 2: no colon in the user.
  secretProblem: (_scheme, secret) =>
    /^[^:]+:./s.test(secret) ? null : 'must be the username and password, separated by a colon',
  token: () => ({ header: 'Authorization' }),
  isSigned,
};

export const queryTokenKind: SchemeKind<{ kind: 'query-token'; parameter: string }> = {
  verify({ parameter }, { secret }, request) {
    const [value, ...others] = request.query().getAll(parameter);
    if (others.length > 0) refuse(`The URL has more than one ${parameter} parameter`);
    return requireToken(value ?? refuse(`The URL has no ${parameter} parameter`), secret);
  },
  sign: ({ parameter }, secret) => ({ query: { [parameter]: secret } }),
  token: ({ parameter }) => ({ parameter }),
  isSigned,
};

const MAX_ITEMS = 1000;
// Microsoft Graph sends up to a hundred notifications or so together.
const MAX_LIST_BYTES = 256 * 1024;

export const bodyTokenKind: SchemeKind<{ kind: 'body-token'; list: string; member: string }> = {
  verify({ list, member }, { secret }, request) {
    const items = memberOf(untrustedJson(request, MAX_LIST_BYTES), list);
    if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS)
      return refuse(`The body must contain a ${list} array with 1 to ${MAX_ITEMS} items, each with ${member}`);
    for (const item of items) requireToken(memberOf(item, member), secret);
    return null;
  },
  sign({ list, member }, secret, { body }) {
    const parsed = jsonOf(body) as object;
    const items = memberOf(parsed, list);
    const signed = (Array.isArray(items) ? (items as object[]) : []).map((item) => ({ ...item, [member]: secret }));
    return { body: jsonBytes({ ...parsed, [list]: signed }) };
  },
  isSigned,
};

/** Of JSON in which an owner says that there is a token: a stranger's is parsed. */
const MAX_TOKEN_BODY_BYTES = 256 * 1024;

export const payloadTokenKind: SchemeKind<{ kind: 'payload-token'; path: string }> = {
  verify({ path }, { secret }, request) {
    const form = readShortFields(request.body, header(request, 'content-type'));
    if (form === null && request.body.length > MAX_TOKEN_BODY_BYTES)
      refuse(
        `The token cannot be read, because the body is not a form and is larger than ${MAX_TOKEN_BODY_BYTES} bytes`,
      );
    const [value, ...others] = lookupPath(form ?? readPayload(request.body, undefined), path);
    if (typeof value !== 'string' || others.length > 0) refuse(`The body has no token at ${path}`);
    return requireToken(value, secret);
  },
  sign: ({ path }, secret, unsigned) => ({ body: withToken(path, secret, unsigned) }),
  isSigned,
};

/** The body with the token at a path: as a field of a form, else as a member of JSON. */
function withToken(path: string, secret: string, { body, contentType }: Unsigned): Buffer {
  const names = (parsePath(path) ?? []).flatMap((step) => ('key' in step ? [step.key] : []));
  if (contentType.startsWith(FORM)) {
    const field = new URLSearchParams({ [names.join('.')]: secret }).toString();
    return Buffer.from(body.length === 0 ? field : `${body.toString()}&${field}`);
  }
  const put = (value: unknown, [name, ...deeper]: string[]): unknown =>
    name === undefined ? secret : { ...(value as object), [name]: put(memberOf(value, name), deeper) };
  return jsonBytes(put(jsonOf(body), names) as object);
}
