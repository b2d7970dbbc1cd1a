// How a test asks the runner for a fault: over the IPC channel between test/run.ts and mocha. The runner's end.
import type { ChildProcess } from 'node:child_process';
import { oneLine } from '../../local/errors.ts';
import type { Stack } from '../../local/stack.ts';

export type Part = 'postgres' | 'temporal';
export type Action = 'start' | 'stop' | 'kill' | 'restart';

export interface StackRequest {
  stackRequest: number;
  action: Action;
  part: Part;
}

export interface StackAnswer {
  stackAnswer: number;
  error?: string;
}

/** Carries out the requests of the tests in `child`, one answer for each. */
export function answerStackRequests(child: ChildProcess, stack: Stack): void {
  child.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('stackRequest' in message)) return;
    const request = message as StackRequest;
    carryOut(stack, request)
      .then(
        () => ({ stackAnswer: request.stackRequest }),
        (error: unknown) => ({ stackAnswer: request.stackRequest, error: oneLine(error) }),
      )
      .then((answer: StackAnswer) => child.connected && child.send(answer))
      .catch(() => {}); // mocha has ended in between
  });
}

async function carryOut(stack: Stack, { action, part }: StackRequest): Promise<void> {
  const server = stack[part];
  if (server === null) throw new Error(`the test stack has no ${part} of its own`);
  if (action === 'restart') {
    await server.stop();
    await server.start();
  } else {
    await server[action]();
  }
}
