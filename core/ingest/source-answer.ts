// What a source answers to a webhook that it accepted, instead of the default.
import { z } from 'zod';

const MAX_BODY = 4096;
// RFC 9110, section 8.3.1, without quotes in parameters.
const CONTENT_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w.-]+)*$/;
// A browser runs the scripts of these, at the address of the API.
const PAGES: readonly string[] = ['text/html', 'application/xhtml+xml', 'image/svg+xml'];
const isPage = (type: string) => PAGES.includes((type.split(';')[0] ?? '').trim().toLowerCase());

export const sourceAnswerSchema = z
  .object({
    status: z.int().min(200).max(299).default(200),
    body: z.string().max(MAX_BODY, `must be at most ${MAX_BODY} characters long`).default(''),
    contentType: z
      .string()
      .max(128)
      .regex(CONTENT_TYPE, 'must be a content type such as text/xml')
      .refine((type) => !isPage(type), `must not be a type that browsers render: ${PAGES.join(', ')}`)
      .default('text/plain'),
  })
  .refine(
    ({ status, body }) => body === '' || (status !== 204 && status !== 205),
    'must have an empty body with status 204 or 205',
  );

export type SourceAnswer = z.output<typeof sourceAnswerSchema>;
