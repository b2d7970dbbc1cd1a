// Senders that do not sign, but send a secret.
import { z } from 'zod';
import { parsePath } from '../../text/dotted-path.ts';
import { headerName } from '../../signatures/hmac.ts';
import { secretSchema } from '../../signatures/scheme.ts';
import type { BasicScheme, HeaderTokenScheme, PayloadTokenScheme, QueryTokenScheme } from '../tokens.ts';
import { nothingElse, refineBy } from './members.ts';

const headerToken = z.object({
  type: z.literal('header_token'),
  secret: secretSchema,
  header: headerName('carries the token').refine(
    (name) => name.toLowerCase() !== 'content-type',
    'must be another header than Content-Type, because that of the token is not stored',
  ),
  prefix: z.string().max(256, 'must be at most 256 characters').default(''),
});
export const headerTokenScheme = ({
  header,
  prefix,
}: Omit<z.output<typeof headerToken>, 'secret'>): HeaderTokenScheme => ({ kind: 'header-token', header, prefix });
export const headerTokenSchema = headerToken.superRefine(
  refineBy<z.output<typeof headerToken>>(nothingElse, headerTokenScheme),
);

// `user:password`
const basic = z.object({ type: z.literal('basic'), secret: secretSchema });
export const basicScheme = (): BasicScheme => ({ kind: 'basic' });
export const basicSchema = basic.superRefine(refineBy<z.output<typeof basic>>(nothingElse, basicScheme));

export const queryTokenSchema = z.object({
  type: z.literal('query_token'),
  secret: secretSchema,
  parameter: z
    .string()
    .min(1, 'must be the name of a parameter in the query of the address')
    .max(256, 'must be at most 256 characters'),
});
export const queryTokenScheme = ({
  parameter,
}: Omit<z.output<typeof queryTokenSchema>, 'secret'>): QueryTokenScheme => ({ kind: 'query-token', parameter });

export const bodyTokenSchema = z.object({
  type: z.literal('body_token'),
  secret: secretSchema,
  path: z
    .string()
    .refine((path) => isPathToOne(path), 'must be a path to one value of the payload, for example $.token')
    .meta({ examples: ['$.token'] }),
});
export const bodyTokenScheme = ({ path }: Omit<z.output<typeof bodyTokenSchema>, 'secret'>): PayloadTokenScheme => ({
  kind: 'payload-token',
  path,
});

function isPathToOne(path: string): boolean {
  const steps = parsePath(path) ?? [];
  return steps.length > 0 && steps.every((step) => 'key' in step);
}
