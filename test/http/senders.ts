// Senders for tests, and requests they send.
import { expect } from 'chai';
import type { Resolve } from '../../outbound/http/guarded-connect.ts';
import type { ExchangeFacts } from '../../outbound/http/pools.ts';
import {
  createSender,
  type Sender,
  type SendRequest,
  type SendResponse,
  type SendResult,
} from '../../outbound/http/sender.ts';
import { closeAll } from './servers.ts';

export type OpenSender = (options?: Partial<Parameters<typeof createSender>[0]>) => Sender;

/**
 * Call it inside a `describe`: after each of its tests, all senders and servers are closed.
 * @returns makes a sender that may reach loopback
 */
export function closedAfterEach(): OpenSender {
  const senders: Sender[] = [];
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    await closeAll();
  });
  return (options = {}) => {
    const sender = createSender({ allow: ['127.0.0.1', '::1', 'localhost'], ...options });
    senders.push(sender);
    return sender;
  };
}

/** A request with a small JSON body and a deadline that no test reaches. */
export const request = (url: string, fields: Partial<SendRequest> = {}): SendRequest => ({
  organizationId: 'org_1',
  poolKey: 'dst_1',
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"a":1}'),
  timeoutMs: 10_000,
  ...fields,
});

/** @throws when it is an error */
export function asResponse(result: SendResult): SendResponse {
  if (result.kind === 'error') throw new Error(`No response: ${result.code} ${result.detail}`);
  return result;
}

/** @throws when it is a response */
export function asError(result: SendResult): SendResult & { kind: 'error' } {
  if (result.kind === 'response') throw new Error(`Answered ${result.statusCode}`);
  return result;
}

const STEPS = ['dns', 'connect', 'tls', 'firstByte'] as const;

/** The steps that have a time, after checking that each is one. */
export function stepsOf(exchange: ExchangeFacts | null): string[] {
  return STEPS.filter((step) => {
    const ms = exchange?.[step] ?? null;
    if (ms !== null) expect(ms, step).to.be.at.least(0);
    return ms !== null;
  });
}

/** Resolves every name to these addresses. */
export const resolveTo =
  (...addresses: string[]): Resolve =>
  (_hostname, callback) =>
    process.nextTick(
      callback,
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
