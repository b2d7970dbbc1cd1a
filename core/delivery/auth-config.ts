// What a destination's `authConfig` holds for each `authType`.
import { z } from 'zod';
import { checkHeaderName, isHeaderValue } from '../http/headers.ts';

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
  .refine(isHeaderValue, 'must not contain line breaks or control characters');

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

export const authConfigSchemas = {
  none: z.object({}).meta({ id: 'NoAuth' }),
  basic: basic.meta({ id: 'BasicAuth' }),
  bearer: z.object({ token: headerValue }).meta({ id: 'BearerAuth' }),
  api_key: z.object({ headerName, key: headerValue }).meta({ id: 'ApiKeyAuth' }),
  custom_header: z.object({ headerName, headerValue }).meta({ id: 'CustomHeaderAuth' }),
} as const;

export type AuthType = keyof typeof authConfigSchemas;
export const AUTH_TYPES = Object.keys(authConfigSchemas) as [AuthType, ...AuthType[]];
