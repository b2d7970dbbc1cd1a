import type Koa from 'koa';
import { ingestAck, ingestRequests, type IngestResult } from '../../core/metrics/ingest.ts';
import { asApiError } from '../request/errors.ts';
import type { ApiState } from '../request/context.ts';

const OF_STATUS: Readonly<Record<number, IngestResult>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'unknown_source',
  408: 'too_slow',
  413: 'too_large',
  429: 'over_limit',
  503: 'unavailable',
  508: 'loop',
};

/**
 * Wraps the middleware of ingest: counts answers, and how long stored webhooks take. Requests for other paths, which it
 * passes on, are not counted.
 */
export function counted(ingest: Koa.Middleware): Koa.Middleware {
  return async (ctx, next) => {
    const began = performance.now();
    let isOther = false;
    const passOn = () => {
      isOther = true;
      return next();
    };
    try {
      await ingest(ctx, passOn);
    } catch (error) {
      if (!isOther) ingestRequests.add({ result: resultOf(error) });
      throw error;
    }
    if (isOther) return;
    // The ingest has noted it (answer.ts).
    const { ingestResult = 'stored' }: ApiState = ctx.state;
    ingestRequests.add({ result: ingestResult });
    ingestAck.observe({}, (performance.now() - began) / 1000);
  };
}

function resultOf(error: unknown): IngestResult {
  const { status } = asApiError(error);
  return OF_STATUS[status] ?? (status < 500 ? 'invalid' : 'error');
}
