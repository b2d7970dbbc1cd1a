// Whether the API answers. Every request tells; while it does not answer, one small request asks again and again, and
// everything on the page is fetched again when it is back.
import { createClient } from '@hookyard/client';
import { apiUrl } from './urls.ts';

const ASK_AGAIN_MS = 1500;
const listeners = new Set<() => void>();
const returned = new Set<() => void>();
let lost = false;
const client = createClient({ url: apiUrl, maxRetries: 0, timeoutMs: 5000 });

export const connection = {
  isLost: (): boolean => lost,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  /** Called when the API answers again. */
  onReturn(listener: () => void): void {
    returned.add(listener);
  },
};

/** `fetch` that notices whether the API answers. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (response.status < 502 || response.status > 504) back();
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) lose();
    throw error;
  }
}

function lose(): void {
  if (lost) return;
  lost = true;
  for (const listener of listeners) listener();
  setTimeout(askAgain, ASK_AGAIN_MS);
}

async function askAgain(): Promise<void> {
  if (!lost) return;
  const isAlive = await client.isAlive().then(
    () => true,
    () => false,
  );
  if (isAlive) back();
  else setTimeout(askAgain, ASK_AGAIN_MS);
}

function back(): void {
  if (!lost) return;
  lost = false;
  for (const listener of listeners) listener();
  for (const listener of returned) listener();
}
