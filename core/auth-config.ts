// What a destination's `authConfig` holds for each `authType`.
// Rules: DEST-10, DEST-23 to DEST-27.
import { z } from 'zod';
import { checkHeaderName, isHeaderValue } from './headers.ts';

const headerName = z
  .string()
  .min(1, 'must not be empty')
  .superRefine((name, context) => {
    const problem = checkHeaderName(name);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const headerValue = z
  .string()
  .min(1, 'must not be empty')
  .refine(isHeaderValue, 'must be text that a header can carry: no line breaks or control characters, Latin-1 only');

const hasNoControlCharacters = (text: string): boolean => !/\p{Cc}/u.test(text);

// RFC 7617, section 2: the user name ends at the first colon, and control characters are excluded from both.
const basic = z.object({
  username: z
    .string()
    .min(1, 'must not be empty')
    .refine((name) => !name.includes(':'), 'must not contain a colon')
    .refine(hasNoControlCharacters, 'must not contain control characters'),
  password: z.string().refine(hasNoControlCharacters, 'must not contain control characters'),
});

/** The schema of `authConfig`, by `authType`. */
export const authConfigSchemas = {
  none: z.object({}),
  basic,
  bearer: z.object({ token: headerValue }),
  api_key: z.object({ headerName, key: headerValue }),
  custom_header: z.object({ headerName, headerValue }),
} as const;

/** How a request proves itself to a destination. */
export type AuthType = keyof typeof authConfigSchemas;
/** A checked `authConfig`, secrets in clear. */
export type AuthConfig<Type extends AuthType = AuthType> = z.output<(typeof authConfigSchemas)[Type]>;

/** Every `authType`, for schemas and messages. */
export const AUTH_TYPES = ['none', 'basic', 'bearer', 'api_key', 'custom_header'] as const satisfies AuthType[];
