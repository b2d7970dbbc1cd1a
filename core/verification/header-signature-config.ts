// Types of `verificationConfig` for signatures of any sender: an HMAC with a shared secret, or a signature by a private
// key, in a header.
import { z } from 'zod';
import { checkHeaderName } from '../http/headers.ts';
import { type Scheme, secretProblem } from './index.ts';
import { KEY_ALGORITHMS } from './public-key.ts';
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS, secretSchema } from './scheme.ts';
import { partsOf, type SignedPart } from './header-signature.ts';

export const headerName = (what: string) =>
  z
    .string()
    .max(256, 'must be at most 256 characters long')
    .refine((name) => checkHeaderName(name) === null, `must be a valid header name (the header that ${what})`);

export const toleranceSeconds = z
  .int()
  .min(1, 'must be at least 1')
  .max(86_400, 'must be at most 86400 (one day)')
  .default(300);

export type MemberProblem = { member: string; message: string };

/**
 * A type of `verificationConfig`: its schema, which also finds what is wrong with its members together, else with its
 * secret; and the scheme that it means.
 */
export function describedType<Schema extends z.ZodObject>(
  schema: Schema,
  scheme: (config: z.output<Schema>) => Scheme,
  problemOf: (config: z.output<Schema>) => MemberProblem | null = () => null,
) {
  const refined = schema.superRefine((config, context) => {
    const problem = problemOf(config);
    if (problem !== null) context.addIssue({ code: 'custom', path: [problem.member], message: problem.message });
    const { secret } = config as { secret?: string };
    const ofSecret = problem === null && secret !== undefined ? secretProblem(scheme(config), secret) : null;
    if (ofSecret !== null) context.addIssue({ code: 'custom', path: ['secret'], message: ofSecret });
  });
  return { schema: refined, scheme };
}

const prefix = z.string().max(256, 'must be at most 256 characters long').default('');
const signatureMembers = {
  algorithm: z.enum(SIGNATURE_ALGORITHMS).default('sha256'),
  encoding: z.enum(SIGNATURE_ENCODINGS).default('hex'),
};

const hmac = z.object({
  type: z.literal('hmac'),
  secret: secretSchema,
  header: headerName('contains the signature'),
  ...signatureMembers,
  prefix,
  // With it, what is signed is the timestamp, the separator and the body, and an old request is refused.
  timestampHeader: headerName("contains the signature's timestamp").optional(),
  timestampSeparator: z.string().max(16, 'must be at most 16 characters long').optional(),
});

export const hmacType = describedType(hmac, ({ timestampSeparator = '.', ...config }) => ({
  kind: 'hmac',
  ...config,
  joinsRepeats: true,
  signed: config.timestampHeader === undefined ? ['body'] : ['timestamp', { text: timestampSeparator }, 'body'],
}));

const separator = z
  .string()
  .min(1, 'must not be empty')
  .max(16, 'must be at most 16 characters long')
  .refine((text) => !text.includes(', '), 'must not contain a comma followed by a space, which joins repeated headers');

const MAX_TEMPLATE = 1024;
const partName = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be the name of a part: 1 to 64 letters, digits, dots, hyphens or underscores');

const templateMembers = {
  header: headerName('contains the signature'),
  prefix,
  listSeparator: separator.optional(),
  signaturePart: partName.optional(),
  timestampPart: partName.optional(),
  partSeparator: separator.default(','),
  timestampHeader: headerName("contains the signature's timestamp").optional(),
  timestampUnit: z.enum(['s', 'ms', 'rfc3339']).default('s'),
  toleranceSeconds,
  idHeader: headerName('contains the signed ID').optional(),
  template: z
    .string()
    .max(MAX_TEMPLATE, `must be at most ${MAX_TEMPLATE} characters long`)
    .default('{body}')
    .meta({ examples: ['{timestamp}.{body}'] }),
};
type TemplateMembers = z.output<z.ZodObject<typeof templateMembers>>;

const KNOWN = '{timestamp}, {id}, {method}, {url} and {body}';

// Who sends chooses how long they are: a part that is signed a hundred times has ten megabytes hashed a hundred times.
const LONG: readonly SignedPart[] = ['body', 'url', 'id'];
const repeatedPart = (signed: readonly SignedPart[]): SignedPart | undefined =>
  LONG.find((part) => signed.indexOf(part) !== signed.lastIndexOf(part));

function templateProblem(given: TemplateMembers): MemberProblem | null {
  const { template, timestampHeader, timestampPart, signaturePart, idHeader, listSeparator } = given;
  const parts = partsOf(template);
  const problem = (member: string, message: string): MemberProblem => ({ member, message });
  if (parts.some((part) => typeof part === 'object' && /[{}]/.test(part.text)))
    return problem('template', `must not contain placeholders other than ${KNOWN}`);
  if (!parts.includes('body'))
    return problem('template', 'must contain {body}; otherwise the signature does not protect the body');
  const repeated = repeatedPart(parts);
  if (typeof repeated === 'string')
    return problem('template', `must contain {${repeated}} only once, because it may be long`);
  const hasTime = timestampHeader !== undefined || timestampPart !== undefined;
  if (timestampHeader !== undefined && timestampPart !== undefined)
    return problem('timestampPart', 'must be omitted with timestampHeader, because the timestamp is in only one place');
  if (hasTime && !parts.includes('timestamp'))
    return problem('template', 'must contain {timestamp}, because an unsigned timestamp proves nothing');
  if (!hasTime && parts.includes('timestamp'))
    return problem('timestampHeader', 'is required if the template contains {timestamp}, unless timestampPart is set');
  if ((idHeader !== undefined) !== parts.includes('id'))
    return problem('idHeader', 'is required if the template contains {id}, and must be omitted otherwise');
  if (timestampPart !== undefined && signaturePart === undefined)
    return problem(
      'signaturePart',
      'is required with timestampPart; set it to the name of the part that contains the signature',
    );
  if (signaturePart !== undefined && (given.prefix !== '' || listSeparator !== undefined))
    return problem(
      'signaturePart',
      'cannot be combined with prefix or listSeparator, which are for headers without parts',
    );
  return null;
}

const hmacTemplate = z.object({
  type: z.literal('hmac_template'),
  secret: secretSchema,
  secretEncoding: z.enum(['text', 'hex', 'base64']).default('text'),
  ...signatureMembers,
  ...templateMembers,
});
export const hmacTemplateType = describedType(
  hmacTemplate,
  ({ secretEncoding: key, ...config }) => ({ kind: 'hmac', key, ...config, signed: partsOf(config.template) }),
  templateProblem,
);

const publicKey = z.object({
  type: z.literal('public_key'),
  secret: secretSchema,
  algorithm: z.enum(KEY_ALGORITHMS),
  encoding: z.enum(SIGNATURE_ENCODINGS).default('base64'),
  ...templateMembers,
});
export const publicKeyType = describedType(
  publicKey,
  (config) => ({ kind: 'public-key', ...config, signed: partsOf(config.template) }),
  templateProblem,
);
