// The operator's key (HOOKYARD_OPERATOR_KEY): for what is about the whole installation, which no API key may see, because each belongs
// to an organization. It is a setting and not a record, so that it works while PostgreSQL is away.
// Rules: STATUS-01, STATUS-02.
import { createHash, timingSafeEqual } from 'node:crypto';
import { isUsable, type Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import { currentSecret } from '../../core/config/secret-files.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import type { Context, Next } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';
import { createSignIns } from './sign-ins.ts';

interface OperatorDeps {
  settings: Pick<Settings, 'HOOKYARD_OPERATOR_KEY' | 'HOOKYARD_OPERATOR_KEY_FILE'>;
  tuning: Pick<Tuning, 'failedSignInsPerMinute'>;
  log: Log;
}

/** Middleware: 404 where there is no such key, 401 without it. */
export function requireOperator({ settings, tuning, log }: OperatorDeps): (ctx: Context, next: Next) => Promise<void> {
  const expected = currentSecret(settings, 'HOOKYARD_OPERATOR_KEY', {
    isUsable: (text) => isUsable('HOOKYARD_OPERATOR_KEY', text),
  });
  const signIns = createSignIns(tuning.failedSignInsPerMinute, log);
  return async (ctx, next) => {
    if (expected === undefined)
      throw new ApiError(
        404,
        'RESOURCE_NOT_FOUND',
        `No such endpoint: ${ctx.path}; set HOOKYARD_OPERATOR_KEY to have it`,
      );
    const given = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1] ?? '';
    // Hashes have one length, and tell nothing by the time that comparing them takes.
    if (!timingSafeEqual(hashOf(given), hashOf(expected())))
      throw signIns.fail(ctx.state.client.address) ?? unauthorized();
    await next();
  };
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

function unauthorized(): ApiError {
  const message =
    "Missing or invalid credentials; send the operator's key as Authorization: Bearer ...; an API key does not do";
  return new ApiError(401, 'UNAUTHORIZED', message, undefined, { 'WWW-Authenticate': 'Bearer' });
}
