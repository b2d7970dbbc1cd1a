import { readInput } from './input.ts';

/** A secret as it was given, or from a file, where neither `ps` nor the shell's history shows it. */
export function secretOf(text: string | undefined): string | undefined {
  return text?.startsWith('@') ? readInput(text.slice(1)).trim() : text;
}
