import { createPrivateKey, type KeyObject } from 'node:crypto';
import { usage } from './errors.ts';
import { readInput } from './input.ts';

/** The private key in a file. @throws CliError when there is none that can be used */
export function privateKeyOf(file: string | undefined): KeyObject | undefined {
  if (file === undefined) return undefined;
  const text = readInput(file);
  try {
    return createPrivateKey(text);
  } catch {
    // What the parser says quotes nothing, but is no help either.
    throw usage(`${file} is not a private key in PEM without a password`);
  }
}
