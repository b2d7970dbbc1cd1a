// What the signer of a provider is, in the tests of providers.
import { type KeyObject, randomBytes } from 'node:crypto';

export interface Message {
  body: Buffer;
  /** When it is signed, ms since 1970. */
  nowMs: number;
  /** The address as the provider has it. */
  url: string;
}

export interface SentMessage {
  headers: Record<string, string>;
  /** Where the provider adds the signature to it. */
  body?: Buffer;
  /** Added to the address. */
  query?: string;
}

export interface Signer {
  /** The package of the provider that signs; absent: it is written here. */
  by?: string;
  /** A secret as the owner of the source enters it, and the key with which the provider signs. */
  secret: () => { secret: string; key: string | KeyObject };
  sign: (message: Message, key: string | KeyObject) => SentMessage | Promise<SentMessage>;
  /** For how many seconds the signed time is good, before and after; absent: none is signed. */
  seconds?: number;
  /** What changes the signature; by default the body. */
  covers?: 'address' | 'headers' | 'nothing' | BodyPart;
  /** A body that this provider would send, where the sample of the registry is none. */
  body?: string;
}

/** Where only a part of the body is signed. */
export interface BodyPart {
  /** In words. */
  part: string;
  /** Bodies in which it is changed. */
  changed: (body: Buffer) => Buffer[];
  /** A body in which something else is. */
  unchanged: (body: Buffer) => Buffer;
}

/** The owner and the sender have the same. */
export const sharedAs = (made: () => string) => () => {
  const secret = made();
  return { secret, key: secret };
};
export const shared = sharedAs(() => randomBytes(20).toString('hex'));
export const seconds = ({ nowMs }: Message) => String(Math.floor(nowMs / 1000));
