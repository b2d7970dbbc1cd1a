// Whether a server of this machine answers its probe. Not by fetch, which refuses some ports that a server may well have.
import { get } from 'node:http';

export function isWell(url: string, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal: AbortSignal.timeout(deadlineMs) }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      resolve(statusCode >= 200 && statusCode < 300);
    });
    request.on('error', () => resolve(false));
  });
}
