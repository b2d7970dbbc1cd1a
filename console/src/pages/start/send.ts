// Sends a sample as its sender would: to the address of the source, without a key. It is the one request that hookyard/client does
// not make, because no API key belongs to it.
import { apiUrl } from '../../api/urls.ts';

export interface ToSend {
  payload: string;
  headers: Record<string, string>;
  /** Empty: none. */
  query: string;
}

/** @throws Error with what the service said */
export async function sendTo(webhookUrl: string, { payload, headers, query }: ToSend): Promise<void> {
  // By the address of this page, which the browser may reach; the public one may lead elsewhere.
  const { pathname } = new URL(webhookUrl);
  const path = pathname.slice(pathname.indexOf('/ingest/'));
  const address = `${apiUrl}${path}${query === '' ? '' : `?${query}`}`;
  const response = await fetch(address, { method: 'POST', headers, body: payload });
  if (response.ok) return;
  const answer = (await response.json().catch(() => ({}))) as { message?: string };
  throw new Error(answer.message ?? `it was answered ${response.status}`);
}
