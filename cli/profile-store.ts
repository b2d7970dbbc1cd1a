// Profiles: services with their keys, by a name, in `hookyard/profiles.json` of the user's configuration folder
// (XDG_CONFIG_HOME, else ~/.config). Only the user can read the file.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { notFound, usage } from './errors.ts';

const profileSchema = z.object({ url: z.string().optional(), apiKey: z.string().optional() });
const fileSchema = z.record(z.string(), profileSchema);
type Profile = z.output<typeof profileSchema>;
type Profiles = z.output<typeof fileSchema>;

export const profilesFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'hookyard', 'profiles.json');

/** @throws CliError when the file is there but is none */
export function readProfiles(): Profiles {
  const file = profilesFile();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
  const parsed = fileSchema.safeParse(jsonOf(text));
  if (!parsed.success) throw usage(`${file} does not hold profiles; correct or remove it`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces the file as a whole, so that one that is read meanwhile is the old or the new one. */
export function writeProfiles(profiles: Profiles): void {
  const file = profilesFile();
  const next = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    throw usage(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** The profile that `--profile` or HOOKYARD_PROFILE names; null without one. @throws CliError when there is none of this name */
export function chosenProfile(option: string | undefined): (Profile & { name: string }) | null {
  const name = option ?? process.env.HOOKYARD_PROFILE;
  if (!name) return null;
  const profile = readProfiles()[name];
  if (profile === undefined)
    throw notFound(`There is no profile ${name}; hookyard profiles list shows those there are`);
  return { ...profile, name };
}
