// Requests from another address of this machine: every 127.x.y.z is one.
import { request } from 'node:http';
import type { Json } from '../api-client.ts';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Json;
}

/** Sends a request from an address. @param token an API key; null sends no credentials */
export function sendFrom(
  localAddress: string,
  url: string,
  token: string | null,
  { method = 'GET', body }: { method?: string; body?: unknown } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const sent = request(
      url.replace('localhost', '127.0.0.1'),
      { method, localAddress, headers, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: text === '' ? {} : (JSON.parse(text) as Json),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
