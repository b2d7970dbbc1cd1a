// Regular expressions of users: RE2 syntax, searched in time linear in the text, whatever the pattern.
import { RE2JS, RE2JSException } from 're2js';

const MAX_PATTERN_LENGTH = 1000;

// Linear time has a factor: the size of the compiled program. `[ab]{999}` is 1,000 instructions.
const MAX_PROGRAM = 2000;

// Steps of a budget for each character of a text at most: measured, for texts that make the most of the program run.
const STEPS = 2;
const STEPS_PER_INSTRUCTION = 2;

export const patternSteps = (pattern: string): number => 2000 + 200 * pattern.length;

export interface LinearPattern {
  /** What a search costs at most, in the steps of a budget. */
  readonly stepsPerCharacter: number;
  test(text: string): boolean;
}

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/**
 * Compiles a pattern in RE2 syntax; escapes that only JavaScript has (`\u00e9`, `\/`) are understood as well.
 * @throws PatternError
 */
export function compilePattern(pattern: string): LinearPattern {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new PatternError(`must be at most ${MAX_PATTERN_LENGTH} characters long`);
  const compiled = compile(pattern);
  const size = compiled.programSize();
  if (size > MAX_PROGRAM) throw new PatternError('repeats too much; use smaller numbers in {...}');
  return { stepsPerCharacter: STEPS + size * STEPS_PER_INSTRUCTION, test: (text) => compiled.test(text) };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    throw new PatternError(`must be a regular expression in RE2 syntax (no lookaround or backreferences): ${reason}`);
  }
}
