// The stack the tests run against. `npm test` starts it and sets DATABASE_URL, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE;
// faults are asked for here. All test files share the stack: a test that stops a part starts it again in a `finally` or
// an after hook.
import type { Action, Part, StackAnswer, StackRequest } from './stack-requests.ts';

/** Where the servers are. @throws Error when the tests were not started with `npm test` */
export function stackAddresses(): { databaseUrl: string; temporalAddress: string; namespace: string } {
  const { DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env;
  if (!DATABASE_URL || !TEMPORAL_ADDRESS || !TEMPORAL_NAMESPACE) {
    throw new Error('This test needs PostgreSQL and Temporal: run it with npm test -- <file>');
  }
  return { databaseUrl: DATABASE_URL, temporalAddress: TEMPORAL_ADDRESS, namespace: TEMPORAL_NAMESPACE };
}

/**
 * The same database as the role of Hookyard's processes, which cannot change its schema. Its tables must have been
 * made.
 */
export function asServices(databaseUrl: string): string {
  const { username, password } = new URL(process.env.RUNTIME_DATABASE_URL ?? databaseUrl);
  return Object.assign(new URL(databaseUrl), { username, password }).href;
}

/** Returns when the part has ended in order (PostgreSQL: fast shutdown). */
export const stopPart = (part: Part) => ask('stop', part);
/** Returns when the part has been ended with SIGKILL. */
export const killPart = (part: Part) => ask('kill', part);
/** Returns when the part serves again, on the same port with the same data. */
export const startPart = (part: Part) => ask('start', part);
/** Stop and start. */
export const restartPart = (part: Part) => ask('restart', part);

let lastRequest = 0;

function ask(action: Action, part: Part): Promise<void> {
  const request: StackRequest = { stackRequest: ++lastRequest, action, part };
  return new Promise((resolve, reject) => {
    if (!process.send) return reject(new Error('Faults need the test runner: run this with npm test -- <file>'));
    const onMessage = (message: unknown) => {
      if (!isAnswerTo(request, message)) return;
      process.off('message', onMessage);
      if (message.error === undefined) resolve();
      else reject(new Error(`${action} ${part}: ${message.error}`));
    };
    process.on('message', onMessage);
    process.send(request);
  });
}

function isAnswerTo(request: StackRequest, message: unknown): message is StackAnswer {
  return (
    typeof message === 'object' &&
    message !== null &&
    'stackAnswer' in message &&
    message.stackAnswer === request.stackRequest
  );
}
