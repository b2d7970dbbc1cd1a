// One request and its response on a pool, under one deadline. It listens to undici's events directly: its `signal`
// option does not end a request that still waits for its connection.
import type { Dispatcher, Pool } from 'undici';
import { valueText } from '../../core/http/header-text.ts';
import { createAnswerReader } from './answer-body.ts';
import { RequestWatch, type WatchedHandler } from './pools.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { describeError, OwnSendError } from './send-errors.ts';
import type { SendRequest, SendResult } from './sender.ts';

const KEPT_BYTES = 16 * 1024;

// Made once: the stack trace of an error costs more than the rest of this file does for a request.
const OVER = new Error('The request has ended');
const NOT_READ = new Error('The rest of the response was not read');

/**
 * Sends a request and reads its response, at most one MiB of the body.
 * @param startedAt `performance.now()` at the start of the attempt
 * @throws what undici throws for a request it refuses to send
 */
export function exchange(pool: Pool, path: string, request: SendRequest, startedAt: number): Promise<SendResult> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let statusCode = 0;
    let headers: Record<string, string> = {};
    const answer = createAnswerReader(request.keptBytes ?? KEPT_BYTES, request.lookFor);
    let over: Error | null = null;
    const watch = new RequestWatch(startedAt);

    const latency = (): number => Math.round(performance.now() - startedAt);

    // The first outcome counts; what undici reports of a request that was cut off is not heard.
    const finish = (result: SendResult, cut: Error | null): void => {
      if (over !== null) return;
      over = cut ?? OVER;
      clearTimeout(deadline);
      resolve(result);
      if (cut !== null) controller?.abort(cut);
    };
    const fail = (error: Error, cut: Error | null): void => {
      finish({ kind: 'error', ...describeError(error, request.url), latency: latency(), exchange: watch.facts() }, cut);
    };
    const succeed = (cut: Error | null): void => {
      const body = answer.end();
      finish({ kind: 'response', statusCode, headers, ...body, latency: latency(), exchange: watch.facts() }, cut);
    };

    const deadline = setTimeout(() => {
      const late = ownWords`Timed out after ${request.timeoutMs} ms`;
      const error = new OwnSendError('TIMEOUT', openError(late));
      fail(error, error);
    }, request.timeoutMs);

    const handler: WatchedHandler = {
      watch,
      onRequestStart(started) {
        controller = started;
        watch.sending();
        // The deadline passed before there was a connection: nothing is sent.
        if (over !== null) started.abort(over);
      },
      onResponseStarted() {
        watch.answered();
      },
      onResponseStart(_controller, status, received) {
        // Comes once more after an interim (1xx) response: the last one is the answer (RFC 9110, section 15.2).
        statusCode = status;
        headers = flatten(received);
      },
      onResponseData(_controller, chunk) {
        if (!answer.add(chunk)) succeed(NOT_READ);
      },
      onResponseEnd() {
        succeed(null);
      },
      onResponseError(_controller, error) {
        fail(error, null);
      },
    };

    try {
      const { method, body } = request;
      pool.dispatch({ path, method, headers: request.headers, body }, handler);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)), null);
    }
  });
}

function flatten(received: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (value !== undefined) headers[name] = valueText(typeof value === 'string' ? value : value.join(', '));
  }
  return headers;
}
