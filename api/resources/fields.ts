// Members that several resources share, with their bounds.
import { z } from 'zod';
import { isNeverForwarded } from '../../core/ingest/forwarded-headers.ts';
import { checkCustomHeaders, checkHeaderName } from '../../core/http/headers.ts';
import { pathProblem } from '../../core/ingest/ingest-path.ts';
import { MAX_URL_LENGTH, urlProblem } from '../../core/http/http-url.ts';
import { isSlug, MAX_SLUG_LENGTH } from '../../core/text/slugs.ts';
import { parseTime } from '../request/query.ts';
import { refuse } from '../request/validation.ts';

export const name = z
  .string()
  .max(255)
  .regex(/\S/, 'must not be empty')
  .meta({ examples: ['Orders'] });

export const description = z
  .string()
  .max(5000)
  .nullable()
  .meta({ examples: ['Orders of the shop'] });

export const enabled = z.boolean().meta({ examples: [true] });

export const url = z
  .string()
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== null) refuse(context, 'INVALID_URL', problem);
  })
  .meta({
    description: 'An http:// or https:// address without credentials; HTTPS is recommended.',
    override: { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$', maxLength: MAX_URL_LENGTH },
    examples: ['https://example.com/hooks'],
  });

/** Answers may hold a URL that is not strictly a URI, for example with an umlaut. */
export const shownUrl = z
  .string()
  .max(MAX_URL_LENGTH)
  .meta({ examples: ['https://example.com/hooks'] });

export const slug = z
  .string()
  .superRefine((text, context) => {
    if (isSlug(text)) return;
    refuse(
      context,
      'INVALID_SLUG',
      `must be lowercase letters and digits with single hyphens between, at most ${MAX_SLUG_LENGTH} characters`,
    );
  })
  .meta({
    description: 'Unique in the organization; stands for the id in export files.',
    override: { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: MAX_SLUG_LENGTH },
    examples: ['orders'],
  });

export const headers = z
  .record(z.string(), z.string())
  .superRefine((given, context) => {
    for (const { name: header, message } of checkCustomHeaders(given)) {
      refuse(context, undefined, message, header === '' ? [] : [header]);
    }
  })
  .meta({
    description: 'Added to every delivery; replaced as a whole on update.',
    examples: [{ 'X-Tenant': 'acme' }],
  });

const MAX_FORWARDED = 100;
const MAX_HEADER_NAME_LENGTH = 256;

/** Why received headers of this name cannot be forwarded, or null. */
function forwardedNameProblem(header: string): string | null {
  if (isNeverForwarded(header)) return `must not name ${header}, which is never forwarded`;
  return checkHeaderName(header);
}

const forwardedName = z
  .string()
  .max(MAX_HEADER_NAME_LENGTH)
  .superRefine((header, context) => {
    const problem = forwardedNameProblem(header);
    if (problem !== null) refuse(context, undefined, problem);
  });

export const forwardHeaders = z
  .union([z.enum(['all', 'none']), z.array(forwardedName).max(MAX_FORWARDED)], {
    error: 'must be all, none, a list of header names, or null',
  })
  .nullable()
  .meta({
    description:
      'Which of the received headers it gets. Null: all but those that steer servers or name clients and users in the place of a proxy; `all`: these too; `none`; or the headers of these names. `Content-Type` and `Content-Encoding` always; headers of the connection, credentials and those of Hookyard never.',
    examples: [null],
  });

export const forwardQuery = z.boolean().meta({
  description:
    "Whether the query of a webhook is added to that of `url`. A parameter that `url` has keeps its value. The source's secret never travels.",
  examples: [false],
});

/** As what follows a source in the address of a webhook. */
export const receivedPath = z.string().superRefine((path, context) => {
  const problem = path.startsWith('/') || path === '' ? pathProblem(path) : 'must begin with a slash';
  if (problem !== null) refuse(context, undefined, problem);
});

export const forwardPath = z.boolean().meta({
  description:
    'Whether the path of a webhook below the address of its source (`allowPaths`) is added to the path of `url`.',
  examples: [false],
});

export const futureTime = z.string().transform((given, context) => {
  const time = parseTime(given);
  if (time && time.getTime() > Date.now()) return time;
  refuse(context, undefined, 'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z');
  return z.NEVER;
});

const MAX_DELAY_MS = 86_400_000;
const delay = z
  .int()
  .min(0)
  .max(MAX_DELAY_MS)
  .meta({ description: 'ms', examples: [1000] });

const policyMembers = {
  maxRetries: z
    .int()
    .min(0)
    .max(50)
    .meta({ description: 'After the first attempt.', examples: [5] }),
  initialDelay: delay,
  maxDelay: delay.meta({ examples: [60_000] }),
  backoffMultiplier: z
    .number()
    .min(1)
    .max(10)
    .meta({ examples: [2] }),
};
export const shownRetryPolicy = z.object(policyMembers).meta({ id: 'RetryPolicy' });

/** Any part of a retry policy; missing members come from the defaults (create) or the stored policy (update). */
export const retryPolicy = z
  .object(policyMembers)
  .partial()
  .meta({ id: 'RetryPolicyInput', description: 'A part of it is merged over the defaults, or over what is stored.' });

/** The members of a patch that were sent: an absent one keeps what is stored. */
export function sent<T extends object>(patch: T): Partial<T> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<T>;
}
