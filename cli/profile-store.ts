// Profiles: services with their keys, by a name, in `hookyard/profiles.json` of the user's configuration folder
// (XDG_CONFIG_HOME, else ~/.config). Only the user can read the file.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { notFound, usage } from './errors.ts';
import { replaceFile } from './input.ts';

interface Profile {
  url?: string;
  apiKey?: string;
}
type Profiles = Record<string, Profile>;

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
  try {
    const profiles: unknown = JSON.parse(text);
    if (isObject(profiles) && Object.values(profiles).every(isProfile)) return profiles as Profiles;
  } catch {
    // It is no JSON.
  }
  throw usage(`${file} is not a valid profiles file; fix it or remove it`);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isProfile = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((member) => typeof member === 'string');

export const writeProfiles = (profiles: Profiles): void =>
  replaceFile(profilesFile(), `${JSON.stringify(profiles, null, 2)}\n`);

/** What `--profile` or HOOKYARD_PROFILE names. @throws CliError when there is none of this name */
export function chosenProfile(option: string | undefined): (Profile & { name: string }) | null {
  const name = option ?? process.env.HOOKYARD_PROFILE;
  if (!name) return null;
  const profile = readProfiles()[name];
  if (profile === undefined) throw notFound(`No profile named ${name}. List profiles with: hookyard profiles list`);
  return { ...profile, name };
}
