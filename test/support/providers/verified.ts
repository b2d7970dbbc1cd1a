// A webhook as a provider sends it, verified with the keys that a server in the place of the providers has.
import { expect } from 'chai';
import { pino } from 'pino';
import { type Verification, verify } from '../../../core/verification/index.ts';
import { KeysAwayError, type PublishedKeys } from '../../../core/verification/published-keys.ts';
import { createSender, type Sender } from '../../../outbound/http/sender.ts';
import { createProviderKeys, type ProviderKeys } from '../../../outbound/provider-keys.ts';
import { type Provider, providerNamed } from '../../../providers/index.ts';
import { rawRequest } from '../raw-request.ts';
import { type KeyServer, startKeyServer } from './key-server.ts';

/** The address of the source. */
export const ADDRESS = 'https://hooks.example.com/ingest/acme/shop';

/** What is sent, and when it comes, ms since 1970. */
export interface Arriving {
  headers: Record<string, string>;
  body: Buffer;
  nowMs: number;
}

export async function verifiedAs(
  provider: string,
  secret: string,
  { headers, body, nowMs }: Arriving,
  keys: PublishedKeys,
): Promise<Verification> {
  const request = rawRequest({ headers, body, nowMs, address: ADDRESS });
  return verify((providerNamed(provider) as Provider).verification, { secret }, request, keys);
}

/** @returns why it was refused */
export async function expectRefused(outcome: Promise<Verification>, what: string): Promise<string> {
  const verification = await outcome;
  expect(verification.valid, what).to.equal(false);
  return verification.valid ? '' : verification.reason;
}

/** @returns what the sender is told */
export async function expectAway(outcome: Promise<unknown>): Promise<string> {
  const error: unknown = await outcome.catch((failure: unknown) => failure);
  expect(error).to.be.instanceOf(KeysAwayError);
  return (error as Error).message;
}

export interface KeyWorld {
  server: KeyServer;
  /** Again for each test. */
  keys: ProviderKeys;
  /** What the keys take for the time, in ms. */
  clock: number;
}

/** For the tests of this `describe`. */
export function useKeyWorld(timeoutMs?: number): KeyWorld {
  const world = { clock: 1 } as KeyWorld;
  let sender: Sender;
  before(async () => {
    world.server = await startKeyServer();
    sender = createSender({ allow: ['127.0.0.1'] });
  });
  after(() => Promise.all([sender.close(), world.server.close()]));
  beforeEach(() => {
    const { server } = world;
    server.state = 'up';
    server.asked.length = 0;
    server.documents.clear();
    const log = pino({ level: 'silent' });
    world.keys = createProviderKeys({ sender, log, mirror: server.url, timeoutMs, now: () => world.clock });
  });
  return world;
}
