// What sessions of this machine have left in the service that ended without removing it: killed, or ended with the
// machine. Each keeps a file of what it has made, in `hookyard/listen` of the user's state folder (XDG_STATE_HOME, else
// ~/.local/state); the next one finds it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Client } from '../../client/index.ts';
import { isAnswering } from './receiver.ts';
import { type Removed, removeRecords } from './session.ts';

const recordsSchema = z.object({
  /** Only of a source that the session has made. */
  sourceId: z.string().nullable(),
  destinationId: z.string().nullable(),
  routeId: z.string().nullable(),
});
/** The records of a session; null: it has none of this kind now. */
export type SessionRecords = z.output<typeof recordsSchema>;

const sessionSchema = recordsSchema.extend({
  organizationId: z.string(),
  /** Of the machine: folders of users may be shared by several. */
  hostname: z.string(),
  /** The address of its receiver on that machine, which only this session answers at. */
  receiver: z.url(),
});
type SavedSession = z.output<typeof sessionSchema>;

const sessionsFolder = (): string =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'hookyard', 'listen');

/** The file of a new session. */
export const newSessionFile = (): string => join(sessionsFolder(), `${randomBytes(9).toString('hex')}.json`);

/** @throws Error when it cannot be written */
export function saveSession(file: string, session: SavedSession): void {
  mkdirSync(sessionsFolder(), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(session), { mode: 0o600 });
}

/** The sessions of this user that have a file. One that cannot be read is left out: it may be half written. */
function savedSessions(): { saved: SavedSession; file: string }[] {
  const folder = sessionsFolder();
  return namesIn(folder).flatMap((name) => {
    const file = join(folder, name);
    try {
      return [{ saved: sessionSchema.parse(JSON.parse(readFileSync(file, 'utf8'))), file }];
    } catch {
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
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
    if (removed.left.length === 0) rmSync(file, { force: true });
    told.push(lineOf(removed, isTakenOver ? `the source ${slug} was kept for this session` : ''));
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
    ids.length === 0
      ? 'No records of an earlier session were removed'
      : `Removed the records of an earlier session: ${ids.join(', ')}`,
    also,
    source === 'kept' ? 'the source was kept because other routes use it' : '',
    left.length > 0 ? `could not remove ${left.join('; ')}` : '',
  ];
  return `${parts.filter((part) => part !== '').join('; ')}.`;
}
