// What each session of hookyard listen has made, in a file of its own in `hookyard/listen` of the user's state folder (XDG_STATE_HOME,
// else ~/.local/state). A killed session cannot remove its records: the next one on this machine finds its file.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

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
export type SavedSession = z.output<typeof sessionSchema>;

const sessionsFolder = (): string =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'hookyard', 'listen');

export interface SessionFile {
  /** @throws Error when it cannot be written */
  write(session: SavedSession): void;
  remove(): void;
}

export const newSessionFile = (): SessionFile =>
  sessionFile(join(sessionsFolder(), `${randomBytes(9).toString('hex')}.json`));

function sessionFile(path: string): SessionFile {
  return {
    write(session) {
      mkdirSync(sessionsFolder(), { recursive: true, mode: 0o700 });
      writeFileSync(path, JSON.stringify(session), { mode: 0o600 });
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/** The sessions of this user that have a file. One that cannot be read is left out: it may be half written. */
export function savedSessions(): { saved: SavedSession; file: SessionFile }[] {
  const folder = sessionsFolder();
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    try {
      return [{ saved: sessionSchema.parse(JSON.parse(readFileSync(path, 'utf8'))), file: sessionFile(path) }];
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
