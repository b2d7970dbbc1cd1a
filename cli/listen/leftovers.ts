// What sessions of this machine have left in the service that ended without removing it: killed, or ended with the machine.
import { hostname } from 'node:os';
import type { Client } from '../../client/index.ts';
import { isAnswering } from './receiver.ts';
import { type Removed, removeRecords } from './session.ts';
import { type SavedSession, savedSessions } from './session-files.ts';

/**
 * Removes what is left, as the sessions would have done.
 * @param slug of the source of the session that begins: one that such a session has made is taken over, with its events
 * @returns the id of that source; and a line on each of them
 */
export async function removeLeftovers(
  client: Client,
  organizationId: string,
  slug: string,
): Promise<{ sourceId: string | null; told: string[] }> {
  let sourceId: string | null = null;
  const told: string[] = [];
  for (const { saved, file } of savedSessions()) {
    if (saved.organizationId !== organizationId || !(await hasEnded(saved))) continue;
    const isTakenOver = await isNamed(client, saved.sourceId, slug);
    if (isTakenOver) sourceId = saved.sourceId;
    const removed = await removeRecords(client, { ...saved, ...(isTakenOver && { sourceId: null }) });
    if (removed.left.length === 0) file.remove();
    told.push(lineOf(removed, isTakenOver ? `the source ${slug} is taken over` : ''));
  }
  return { sourceId, told };
}

/** Its process may be another one by now, but nothing else answers at its address. */
async function hasEnded({ hostname: machine, receiver }: SavedSession): Promise<boolean> {
  return machine === hostname() && !(await isAnswering(receiver));
}

async function isNamed(client: Client, id: string | null, slug: string): Promise<boolean> {
  if (id === null) return false;
  try {
    const source = await client.getSource({ id });
    return source.id === slug || source.slug === slug;
  } catch {
    // It is gone, or its removal says what is wrong.
    return false;
  }
}

function lineOf({ ids, left, source }: Removed, also: string): string {
  const parts = [
    `Removed what an ended session had left: ${ids.length === 0 ? 'nothing was there any more' : ids.join(', ')}`,
    also,
    source === 'kept' ? 'its source stays: other routes lead from it' : '',
    left.length > 0 ? `not removed: ${left.join('; ')}` : '',
  ];
  return `${parts.filter((part) => part !== '').join('; ')}.`;
}
