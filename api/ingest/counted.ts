import type Koa from 'koa';
import { ingestAck, ingestRequests, type IngestResult } from '../../core/metrics/ingest.ts';
import { ApiError } from '../request/errors.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
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
    ingestRequests.add({ result: answered(ctx.state) });
    ingestAck.observe({}, (performance.now() - began) / 1000);
  };
}

/** The ingest has noted it (answer.ts). */
function answered({ ingestResult = 'stored' }: Pick<ApiState, 'ingestResult'>): IngestResult {
  return ingestResult;
}

function resultOf(error: unknown): IngestResult {
  if (isTransientDatabaseError(error)) return 'unavailable';
  if (!(error instanceof ApiError)) return 'error';
  return OF_STATUS[error.status] ?? (error.status < 500 ? 'invalid' : 'error');
}
