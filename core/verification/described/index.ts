// Schemes that the owner of a source describes, for a sender that is no provider of the registry: the schemes of providers, their
// parameters as members of `verificationConfig`. A new type is a line here, a row in test/conformance/described.test.ts and one in
// docs/interface/sources.md.
// Rules: SRC-44 to SRC-53.
import type { z } from 'zod';
import type { AnyScheme } from '../index.ts';
import { jwtSchema, jwtScheme } from './jwt.ts';
import { hmacTemplateSchema, hmacTemplateScheme, publicKeySchema, publicKeyScheme } from './templates.ts';
import {
  basicSchema,
  basicScheme,
  bodyTokenSchema,
  bodyTokenScheme,
  headerTokenSchema,
  headerTokenScheme,
  queryTokenSchema,
  queryTokenScheme,
} from './tokens.ts';

/** One line a type: what its `verificationConfig` holds, and the scheme that it describes. */
const described = {
  hmac_template: { schema: hmacTemplateSchema, scheme: hmacTemplateScheme },
  public_key: { schema: publicKeySchema, scheme: publicKeyScheme },
  jwt: { schema: jwtSchema, scheme: jwtScheme },
  header_token: { schema: headerTokenSchema, scheme: headerTokenScheme },
  basic: { schema: basicSchema, scheme: basicScheme },
  query_token: { schema: queryTokenSchema, scheme: queryTokenScheme },
  body_token: { schema: bodyTokenSchema, scheme: bodyTokenScheme },
} as const;

export type DescribedType = keyof typeof described;
type DescribedSchema = (typeof described)[DescribedType]['schema'];
export type DescribedConfig = z.output<DescribedSchema>;

export const DESCRIBED_TYPES = Object.keys(described) as [DescribedType, ...DescribedType[]];
export const describedSchemas = Object.values(described).map(({ schema }) => schema);

type WithoutSecret<Config> = Config extends unknown ? Omit<Config, 'secret'> : never;

/** The scheme that a `verificationConfig` describes; null when its type is another one. */
export function describedScheme(config: { type: string }): AnyScheme | null {
  if (!Object.hasOwn(described, config.type)) return null;
  // The line of the type takes the config of the type.
  const { scheme } = described[config.type as DescribedType] as { scheme: (its: unknown) => AnyScheme };
  return scheme(config as WithoutSecret<DescribedConfig>);
}

/** Whether a config of this type, as it was sent, has a secret at all. */
export const takesSecret = ({ type, algorithm }: Record<string, unknown>): boolean =>
  type !== 'jwt' || algorithm === 'HS256';
