// Pauses as tests begin, see and end them.
import type { Hookyard } from '../hookyard.ts';

export interface PauseView {
  paused: boolean;
  pausedSince: string | null;
  pausedUntil: string | null;
  pauseReason: string | null;
}

/** What a route or destination says that is not paused. */
export const NOT_PAUSED: PauseView = { paused: false, pausedSince: null, pausedUntil: null, pauseReason: null };

export const routePath = ({ id }: { id: string }): string => `/api/routes/${id}`;
export const destinationPath = ({ id }: { id: string }): string => `/api/destinations/${id}`;

/** @param path of the route or destination */
export function pause(
  { client }: Pick<Hookyard, 'client'>,
  path: string,
  body: { reason?: string; until?: string } = {},
): Promise<PauseView & { id: string }> {
  return client.post(`${path}/pause`, body);
}

export function resume(
  { client }: Pick<Hookyard, 'client'>,
  path: string,
  body: { releasePerSecond?: number } = {},
): Promise<PauseView & { id: string }> {
  return client.post(`${path}/resume`, body);
}
