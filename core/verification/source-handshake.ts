// What a source answers to a GET or HEAD by which its sender checks the address, where its owner says so. The providers
// that Hookyard knows have their handshakes built in (providers/).
import { z } from 'zod';
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS, secretSchema } from './scheme.ts';
import type { Handshake } from './handshakes.ts';

const name = (of: string) =>
  z
    .string()
    .min(1, `must be the name of ${of}`)
    .max(256, 'must be at most 256 characters long')
    .meta({ examples: ['challenge'] });
const parameter = name('a query parameter');
const member = name('a field in the JSON response').optional();

const echo = { type: z.literal('echo'), parameter, member };
const others = [
  z.object({ type: z.literal('ok') }),
  z.object({
    ...{ type: z.literal('hmac'), parameter, member, echoMember: member },
    algorithm: z.enum(SIGNATURE_ALGORITHMS).default('sha256'),
    encoding: z.enum(SIGNATURE_ENCODINGS).default('base64'),
    prefix: z.string().max(256, 'must be at most 256 characters long').default(''),
  }),
] as const;

export const sourceHandshakeSchema = z.discriminatedUnion('type', [
  z.object({ ...echo, verifyToken: secretSchema.nullish() }),
  ...others,
]);
export type SentHandshake = z.output<typeof sourceHandshakeSchema>;

const storedSchema = z.discriminatedUnion('type', [z.object(echo), ...others]);
export type SourceHandshake = z.output<typeof storedSchema>;

/** @param verifyToken in clear; null: it has none */
export function handshakesOf(own: SourceHandshake | null, verifyToken: string | null): Handshake[] {
  switch (own?.type) {
    case undefined:
      return [];
    case 'ok':
      return [{ kind: 'get' }, { kind: 'head' }];
    case 'echo': {
      const { type: _echo, ...rest } = own;
      return [{ kind: 'echo-query', method: 'GET', ...rest, ...(verifyToken !== null && { verifyToken }) }];
    }
    case 'hmac': {
      const { type: _hmac, ...rest } = own;
      return [{ kind: 'query-hmac', ...rest }];
    }
  }
}
