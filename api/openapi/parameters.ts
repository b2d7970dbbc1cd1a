// Parameters and headers that operations share, in the API's description.
import { z } from 'zod';
import { slug } from '../resources/fields.ts';
import { exampleId, idOf, text } from '../resources/values.ts';

/** The id under which the log knows the request. */
export const requestId = text(
  exampleId('req'),
  'The id under which the log knows the request: the one it came with, or a new one.',
).meta({ header: { id: 'RequestId' } });

/** Makes a POST safe to repeat. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional()
  .meta({
    description: 'A repeat within 24 hours, with the same key and body, gets the answer of the first request.',
    examples: ['3f0c1b1e-8a53-4c0f-9f0e-5d1a2b3c4d5e'],
    param: { in: 'header', name: 'Idempotency-Key', id: 'IdempotencyKey' },
  });
export const idempotentReplayed = z
  .literal('true')
  .optional()
  .meta({
    description: 'This is the answer of the first request with this `Idempotency-Key`.',
    header: { id: 'IdempotentReplayed' },
  });

export const ignoredNames = z
  .string()
  .optional()
  .meta({
    description:
      'Which query parameters and members of the body were ignored because nothing of their name is known here, as a list of ' +
      'RFC 9651: the dotted name, `in` which it was, and the known name that is `nearest`, if any. Names are percent-encoded ' +
      'where they are not plain ASCII. At most 8 are named; `more;count=` is how many others there were.',
    examples: ['"destnationId";in=query;nearest="destinationId"'],
    header: { id: 'Ignored' },
  });

/** Of the record that an answer shows. */
export const entityTag = text(
  '"3"',
  'The version of the record, for `If-Match`. Changes of its members raise it; figures and states that the service keeps do not.',
).meta({ header: { id: 'ETag' } });
/** Makes a change conditional. */
export const ifMatch = z
  .string()
  .optional()
  .meta({
    description:
      'An `ETag` of this record, or several separated by commas. When the record is at another version nothing is changed, and ' +
      'the answer is 412. Without it the change is made in any case.',
    examples: ['"3"'],
    param: { in: 'header', name: 'If-Match', id: 'IfMatch' },
  });

const orgId = text(exampleId('org'), 'The organization of the key; `GET /api/auth/me` tells it.').meta({
  param: { in: 'path', name: 'orgId', id: 'OrganizationId' },
});

const PATH_EXAMPLES: Record<string, string> = {
  orgSlug: 'default',
  sourceSlug: 'orders',
  token: 'b0FvZ3V0ZW4gTW9yZ2VuIGFsbGUg',
};

/** A parameter of a path. @param prefixes of an `id` */
export function pathParameter(name: string, prefixes: readonly string[]): z.ZodType {
  if (name === 'orgId') return orgId;
  if (name === 'slug') return slug.meta({ param: { in: 'path', name } });
  if (name !== 'id') return text(PATH_EXAMPLES[name] ?? 'orders').meta({ param: { in: 'path', name } });
  if (prefixes.length === 0) throw new Error('an operation with {id} must say what the id is of');
  return idOf(...prefixes).meta({ param: { in: 'path', name } });
}
