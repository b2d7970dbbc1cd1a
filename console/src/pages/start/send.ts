// Sends a sample as a provider would: to the address of the source, without a key. It is the one request that hookyard/client does
// not make, because no API key belongs to it.
import { apiUrl } from '../../api/urls.ts';

/** @returns the id of the event @throws Error with what the service said */
export async function sendTo(webhookUrl: string, payload: string): Promise<string> {
  // By the address of this page, which the browser may reach; the public one may lead elsewhere.
  const { pathname } = new URL(webhookUrl);
  const path = pathname.slice(pathname.indexOf('/ingest/'));
  const response = await fetch(apiUrl + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: payload,
  });
  const answer = (await response.json().catch(() => ({}))) as { eventId?: string; message?: string };
  if (answer.eventId === undefined) throw new Error(answer.message ?? `it was answered ${response.status}`);
  return answer.eventId;
}
