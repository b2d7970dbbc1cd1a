// A sender for one attempt, which must end before its activity.
import type { Sender } from './sender.ts';

/**
 * A sender that begins nothing whose answer may come too late: the attempt would outlive its activity, and be made again meanwhile.
 * @param withinMs from now until the last answer
 */
export function inTime(sender: Sender, withinMs: number): Sender {
  const until = performance.now() + withinMs;
  return {
    ...sender,
    async send(request) {
      if (performance.now() + request.timeoutMs <= until) return sender.send(request);
      throw new Error('Preparing the request took too long; the attempt will be made again');
    },
  };
}
