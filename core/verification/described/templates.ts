// Signatures of any sender: an HMAC with a shared secret, or a signature by a private key, in a header; what is signed is a template.
import { z } from 'zod';
import { headerName } from '../../signatures/hmac.ts';
import { SIGNATURE_ENCODINGS, secretSchema } from '../../signatures/scheme.ts';
import type { HmacScheme } from '../hmac.ts';
import { KEY_ALGORITHMS } from '../key-signatures.ts';
import type { KeySignatureScheme } from '../public-key.ts';
import type { SignatureTemplate, SignedPart } from '../template.ts';
import { type MemberProblem, refineBy, separator, toleranceSeconds } from './members.ts';

const MAX_TEMPLATE = 1024;
const partName = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be the name of a part: 1 to 64 letters, digits, dots, hyphens and underscores');

const templateMembers = {
  header: headerName('carries the signature'),
  prefix: z.string().max(256, 'must be at most 256 characters').default(''),
  listSeparator: separator.optional(),
  signaturePart: partName.optional(),
  timestampPart: partName.optional(),
  partSeparator: separator.default(','),
  timestampHeader: headerName('carries the time of the signature').optional(),
  timestampUnit: z.enum(['s', 'ms', 'rfc3339']).default('s'),
  toleranceSeconds,
  idHeader: headerName('carries the id that is signed').optional(),
  template: z
    .string()
    .max(MAX_TEMPLATE, `must be at most ${MAX_TEMPLATE} characters`)
    .default('{body}')
    .meta({ examples: ['{timestamp}.{body}'] }),
};
type TemplateMembers = z.output<z.ZodObject<typeof templateMembers>>;

const PART = /\{(timestamp|id|method|url|body)\}/;
const KNOWN = '{timestamp}, {id}, {method}, {url} and {body}';

/** What is signed, part by part. */
function partsOf(template: string): SignedPart[] {
  // Names stand at the odd places.
  const pieces = template.split(PART);
  return pieces.flatMap((piece, index): SignedPart[] => {
    if (index % 2 === 1) return [piece as Exclude<SignedPart, object>];
    return piece === '' ? [] : [{ text: piece }];
  });
}

// Who sends chooses how long they are: a part that is signed a hundred times has ten megabytes hashed a hundred times.
const LONG: readonly SignedPart[] = ['body', 'url', 'id'];
const repeatedPart = (signed: readonly SignedPart[]): SignedPart | undefined =>
  LONG.find((part) => signed.indexOf(part) !== signed.lastIndexOf(part));

function templateProblem(given: TemplateMembers): MemberProblem | null {
  const { template, timestampHeader, timestampPart, signaturePart, idHeader, prefix, listSeparator } = given;
  const parts = partsOf(template);
  const problem = (member: string, message: string): MemberProblem => ({ member, message });
  if (parts.some((part) => typeof part === 'object' && /[{}]/.test(part.text)))
    return problem('template', `has braces around something else than ${KNOWN}`);
  if (!parts.includes('body'))
    return problem('template', 'must hold {body}: a signature without it proves nothing of it');
  const repeated = repeatedPart(parts);
  if (typeof repeated === 'string')
    return problem('template', `must hold {${repeated}} once: what a sender makes long is hashed once`);
  const hasTime = timestampHeader !== undefined || timestampPart !== undefined;
  if (timestampHeader !== undefined && timestampPart !== undefined)
    return problem('timestampPart', 'must be left out with timestampHeader: the time stands in one place');
  if (hasTime && !parts.includes('timestamp'))
    return problem('template', 'must hold {timestamp}: a time that is not signed proves nothing');
  if (!hasTime && parts.includes('timestamp'))
    return problem('timestampHeader', 'is needed for {timestamp}, or timestampPart: where the time stands');
  if ((idHeader !== undefined) !== parts.includes('id'))
    return problem('idHeader', 'and {id} in the template need each other');
  if (timestampPart !== undefined && signaturePart === undefined)
    return problem('signaturePart', 'is needed with timestampPart: the part that is the signature');
  if (signaturePart !== undefined && (prefix !== '' || listSeparator !== undefined))
    return problem('signaturePart', 'must be left out with prefix or listSeparator: a header has parts, or it has not');
  return null;
}

function templateOf(given: TemplateMembers & Pick<SignatureTemplate, 'encoding'>): SignatureTemplate {
  const { header, encoding, prefix, listSeparator, signaturePart, timestampPart, timestampHeader, idHeader } = given;
  const { timestampUnit: unit, toleranceSeconds: seconds, partSeparator, template } = given;
  const hasTime = timestampHeader !== undefined || timestampPart !== undefined;
  return {
    ...{ header, encoding, prefix, signed: partsOf(template) },
    ...(listSeparator !== undefined && { listSeparator }),
    ...(signaturePart !== undefined && {
      named: {
        separator: partSeparator,
        signature: signaturePart,
        ...(timestampPart !== undefined && { timestamp: timestampPart }),
      },
    }),
    ...(hasTime && {
      timestamp: { unit, toleranceSeconds: seconds, ...(timestampHeader !== undefined && { header: timestampHeader }) },
    }),
    ...(idHeader !== undefined && { idHeader }),
  };
}

const hmacTemplate = z.object({
  type: z.literal('hmac_template'),
  secret: secretSchema,
  secretEncoding: z.enum(['text', 'hex', 'base64']).default('text'),
  algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
  encoding: z.enum(SIGNATURE_ENCODINGS).default('hex'),
  ...templateMembers,
});
export const hmacTemplateScheme = (config: Omit<z.output<typeof hmacTemplate>, 'secret'>): HmacScheme => ({
  ...{ kind: 'hmac', algorithm: config.algorithm, key: config.secretEncoding },
  ...templateOf(config),
});
export const hmacTemplateSchema = hmacTemplate.superRefine(
  refineBy<z.output<typeof hmacTemplate>>(templateProblem, hmacTemplateScheme),
);

const publicKey = z.object({
  type: z.literal('public_key'),
  // The public key.
  secret: secretSchema,
  algorithm: z.enum(KEY_ALGORITHMS),
  encoding: z.enum(SIGNATURE_ENCODINGS).default('base64'),
  ...templateMembers,
});
export const publicKeyScheme = (config: Omit<z.output<typeof publicKey>, 'secret'>): KeySignatureScheme => ({
  ...{ kind: 'key-signature', algorithm: config.algorithm },
  ...templateOf(config),
});
export const publicKeySchema = publicKey.superRefine(
  refineBy<z.output<typeof publicKey>>(templateProblem, publicKeyScheme),
);
