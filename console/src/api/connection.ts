// Whether the API answers. Every request tells; while it does not answer, one small request asks again and again, and
// everything on the page is fetched again when it is back.
import { createClient } from '@hookyard/client';
import { onlineManager } from '@tanstack/react-query';
import { apiUrl } from './urls.ts';

const ASK_AGAIN_MS = 1500;
const client = createClient({ url: apiUrl, maxRetries: 0, timeoutMs: 5000 });

// What the browser thinks of its network is not asked: the API may be on this machine.
onlineManager.setEventListener(() => undefined);

/** `fetch` that notices whether the API answers. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (response.status < 502 || response.status > 504) onlineManager.setOnline(true);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted && onlineManager.isOnline()) {
      onlineManager.setOnline(false);
      setTimeout(askAgain, ASK_AGAIN_MS);
    }
    throw error;
  }
}

async function askAgain(): Promise<void> {
  if (onlineManager.isOnline()) return;
  const isAlive = await client.isAlive().then(
    () => true,
    () => false,
  );
  if (isAlive) onlineManager.setOnline(true);
  else setTimeout(askAgain, ASK_AGAIN_MS);
}
