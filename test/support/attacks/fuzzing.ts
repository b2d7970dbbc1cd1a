// What tests with random input share: how long they continue, what they send, and what must hold after each of it.
import { connect } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { send } from '../requests/http-client.ts';
import { LONGEST_TURN_MS, longTurns } from './loop-watch.ts';
import type { Service } from '../service.ts';

const SOCKET_MS = 1500;

/** It is printed; set FUZZ_SEED to repeat a run. */
export const seed = Number(process.env.FUZZ_SEED) || Date.now() % 2 ** 31;

/**
 * Tries a property again and again, until the time is over and at least once: one input may take longer. A failure is
 * reported as it is found, since smaller ones would take long.
 * @param ms when no further input is tried
 */
export async function tryFor<Inputs>(ms: number, property: fc.IAsyncProperty<Inputs>): Promise<void> {
  const until = performance.now() + ms;
  for (let next = seed; next === seed || performance.now() < until; next = (next + 1) % 2 ** 31) {
    await fc.assert(property, { seed: next, numRuns: 1, endOnFailure: true });
  }
}

/**
 * @param service is watched (loop-watch.ts)
 * @returns what expects it to be alive, and no turn of its loop since to have been long
 */
export function expectAlive(service: Service): (what: string) => Promise<void> {
  // Loading modules is one long turn.
  let told = service.output().length;
  return async (what) => {
    expect(service.running, what).to.equal(true);
    // A few more turns of the loop, in which a long one is told.
    for (let turns = 0; service.url !== '' && turns < 3; turns += 1) {
      expect((await send('GET', `${service.url}/healthz`)).status, what).to.equal(200);
    }
    const [longest = 0] = longTurns(service, told).toSorted((a, b) => b - a);
    told = service.output().length;
    expect(longest, `ms that the loop was held, ${what}`).to.be.below(LONGEST_TURN_MS);
  };
}

/**
 * Sends a POST.
 * @returns its status; null when the connection was closed meanwhile, as for headers that are too long
 */
export const statusOf = (url: string, sent: Record<string, string>, bytes: Buffer): Promise<number | null> =>
  send('POST', url, sent, bytes).then(
    ({ status }) => status,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return null;
      throw error;
    },
  );

/** Everything that comes back on a connection until it is closed or silent. */
export function exchanged({ url }: Service, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(bytes));
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(parts).toString('latin1'));
    };
    const timer = setTimeout(finish, SOCKET_MS);
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('close', finish).on('error', finish);
  });
}
