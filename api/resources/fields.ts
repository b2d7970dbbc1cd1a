// Members that several resources share, with their bounds.
import { z } from 'zod';
import { component, withExample } from './values.ts';
import { isNeverForwarded } from '../../core/ingest/forwarded-headers.ts';
import { checkCustomHeaders, checkHeaderName } from '../../core/http/headers.ts';
import { pathProblem } from '../../core/ingest/ingest-url.ts';
import { MAX_URL_LENGTH, URL_HAS_CREDENTIALS, urlProblem } from '../../core/http/urls.ts';
import { isSlug, MAX_SLUG_LENGTH, SLUG_PROBLEM } from '../../core/text/slugs.ts';
import { parseTime } from '../request/query.ts';
import { refuse, refused } from '../request/validation.ts';

export const name = withExample(z.string().max(255).regex(/\S/, 'must not be empty'), 'Orders');

export const description = withExample(z.string().max(5000).nullable(), 'Shop orders');

export const enabled = withExample(z.boolean(), true);

export const url = z
  .string()
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    const advice = problem === URL_HAS_CREDENTIALS ? '; use authType and authConfig' : '';
    if (problem !== null) refuse(context, 'INVALID_URL', `${problem}${advice}`);
  })
  .meta({
    description: 'An http:// or https:// URL without credentials; HTTPS is recommended.',
    override: { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$', maxLength: MAX_URL_LENGTH },
    examples: ['https://example.com/hooks'],
  });

/** Answers may hold a URL that is not strictly a URI, for example with an umlaut. */
export const shownUrl = withExample(z.string().max(MAX_URL_LENGTH), 'https://example.com/hooks');

export const slug = z
  .string()
  .superRefine((text, context) => {
    if (isSlug(text)) return;
    refuse(context, 'INVALID_SLUG', SLUG_PROBLEM);
  })
  .meta({
    description: 'Unique within the organization and record type. Export files use the slug instead of the ID.',
    override: { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: MAX_SLUG_LENGTH },
    examples: ['orders'],
  });

export const headers = withExample(
  z.record(z.string(), z.string()).superRefine((given, context) => {
    for (const { name: header, message } of checkCustomHeaders(given)) {
      refuse(context, undefined, message, header === '' ? [] : [header]);
    }
  }),
  { 'X-Tenant': 'acme' },
  'Headers added to every delivery. An update replaces all of them.',
);

const MAX_FORWARDED = 100;
const MAX_HEADER_NAME_LENGTH = 256;

function forwardedNameProblem(header: string): string | null {
  if (isNeverForwarded(header)) return `must not be ${header}, which is never forwarded`;
  return checkHeaderName(header);
}

const forwardedName = z
  .string()
  .max(MAX_HEADER_NAME_LENGTH)
  .superRefine((header, context) => {
    const problem = forwardedNameProblem(header);
    if (problem !== null) refuse(context, undefined, problem);
  });

export const forwardHeaders = withExample(
  z
    .union([z.enum(['all', 'none']), z.array(forwardedName).max(MAX_FORWARDED)], {
      error: 'must be all, none, a list of header names, or null',
    })
    .nullable(),
  null,
  "Which received headers are forwarded: `all`, `none` or a list of names. If null, all headers except `webhook-*` headers and those that proxies set or servers act on (such as `X-Forwarded-*` and `X-HTTP-Method-Override`). `Content-Type` and `Content-Encoding` are always forwarded; connection headers, credentials and Hookyard's own headers never are.",
);

export const forwardQuery = withExample(
  z.boolean(),
  false,
  "Whether to forward the query string. Parameters in `url` take precedence. The source's secret is never forwarded.",
);

/** As what follows a source in the address of a webhook. */
export const receivedPath = z.string().superRefine((path, context) => {
  const problem = path.startsWith('/') || path === '' ? pathProblem(path) : 'must begin with a slash';
  if (problem !== null) refuse(context, undefined, problem);
});

export const forwardPath = withExample(
  z.boolean(),
  false,
  'Whether to append the path below the ingest URL (see `allowPaths` of the source) to `url`.',
);

export const futureTime = z.string().transform((given, context) => {
  const time = parseTime(given);
  if (time && time.getTime() > Date.now()) return time;
  return refused(
    context,
    undefined,
    'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z',
  );
});

const MAX_DELAY_MS = 86_400_000;
const delay = withExample(z.int().min(0).max(MAX_DELAY_MS), 1000, 'In milliseconds.');

const policyMembers = {
  maxRetries: withExample(z.int().min(0).max(50), 5, 'Maximum number of retries after the first attempt.'),
  initialDelay: delay,
  maxDelay: withExample(delay, 60_000),
  backoffMultiplier: withExample(z.number().min(1).max(10), 2),
};
export const shownRetryPolicy = component('RetryPolicy', policyMembers);

/** Any part of a retry policy; missing members come from the defaults (create) or the stored policy (update). */
export const retryPolicy = z.object(policyMembers).partial().meta({
  id: 'RetryPolicyInput',
  description: 'In an update, omitted fields keep their stored values; otherwise, they get their defaults.',
});

export function sent<T extends object>(patch: T): Partial<T> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<T>;
}
