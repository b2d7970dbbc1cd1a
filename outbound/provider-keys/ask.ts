// One question to a provider, by the sender of deliveries and so through the address guard: one deadline, no redirects, a bounded answer.
import type { Sender } from '../http/sender.ts';
import { type ErrorSummary, ownWords } from '../../core/text/error-summary.ts';

const TIMEOUT_MS = 5000;
// The largest set of keys of a provider has some ten thousand bytes.
const MAX_BYTES = 256 * 1024;

export interface Question {
  /** Whose webhooks it is for. */
  organizationId: string;
  /** An https address. */
  url: string;
  /** As JSON; absent: the address is got. */
  post?: object;
}

/** `status` is null when there was no answer. `why` is for the log, `said` for strangers. */
export type Answer =
  | { isOk: true; text: string }
  | { isOk: false; status: number | null; text: string; why: ErrorSummary; said: string };

export interface AskOptions {
  sender: Sender;
  /** What is asked instead of the providers: `https://host/path` is `<mirror>/host/path` there. */
  mirror?: string | undefined;
  timeoutMs?: number | undefined;
}

export async function ask({ organizationId, url, post }: Question, options: AskOptions): Promise<Answer> {
  const { sender, mirror, timeoutMs = TIMEOUT_MS } = options;
  const { host, pathname, search } = new URL(url);
  const body = post === undefined ? null : Buffer.from(JSON.stringify(post));
  const result = await sender.send({
    method: body === null ? 'GET' : 'POST',
    url: mirror === undefined ? url : `${mirror}/${host}${pathname}${search}`,
    headers: { Accept: '*/*', ...(body !== null && { 'Content-Type': 'application/json' }) },
    ...{ body, timeoutMs, organizationId, poolKey: `keys of ${host}`, keptBytes: MAX_BYTES },
  });
  // What the guard refuses may name addresses of the operator.
  if (result.kind === 'error')
    return { isOk: false, status: null, text: '', why: result.summary, said: 'there was no answer' };
  const { statusCode: status, bodyText: text, truncated } = result;
  const refused = (why: ErrorSummary): Answer => ({ isOk: false, status, text, why, said: why });
  if (status < 200 || status >= 300) return refused(ownWords`it answered ${status}`);
  return truncated ? refused(ownWords`it answered more than ${MAX_BYTES} bytes`) : { isOk: true, text };
}
