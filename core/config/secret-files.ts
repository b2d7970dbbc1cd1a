// Secrets in files instead of variables: `<NAME>_FILE` names the file that holds the value of `<NAME>`, as
// orchestrators mount them.
import { readFileSync } from 'node:fs';

/** Thrown for settings that cannot be used; `problems` holds one line each, naming the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: string[];
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** The variables that hold secrets: never printed, and read from a file where `<NAME>_FILE` names one. */
export const SECRETS = [
  'HOOKYARD_API_KEY',
  'HOOKYARD_OPERATOR_KEY',
  'HOOKYARD_ENCRYPTION_KEYS',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SMTP_URL',
  // No settings of core/config/config.ts: hookyard mcp, Temporal's loader (temporal-config/client.ts) and
  // core/warehouse/operator-access.ts read them.
  'HOOKYARD_MCP_TOKEN',
  'TEMPORAL_API_KEY',
  'R2_ACCESS_KEY_ID',
  'R2_SECRET_ACCESS_KEY',
] as const;
export type SecretName = (typeof SECRETS)[number];

type Environment = Record<string, string | undefined>;

const fileVariable = <Name extends SecretName>(name: Name) => `${name}_FILE` as const;

/**
 * @param env usually `process.env`; an empty text counts as unset
 * @throws ConfigError naming every secret that is given twice, and every file that cannot be read or is empty
 */
export function withSecretFiles(env: Environment): Environment {
  const whole = { ...env };
  const problems: string[] = [];
  for (const name of SECRETS) {
    try {
      whole[name] = secretOf(env, name);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return whole;
}

/**
 * One secret of an environment; undefined when it is set in neither way.
 * @throws ConfigError when it is set in both, or its file cannot be read or is empty
 */
export function secretOf(env: Environment, name: SecretName): string | undefined {
  const file = env[fileVariable(name)];
  if (!file) return env[name] || undefined;
  if (env[name]) throw new ConfigError([`${name} and ${fileVariable(name)} are both set; remove one of them`]);
  return readSecretFile(file, fileVariable(name));
}

/**
 * What a file holds, without the line break that editors and `echo` leave at its end.
 * @param variable names the file in messages, which never show what is in it
 * @throws ConfigError when it cannot be read or is empty
 */
function readSecretFile(file: string, variable: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new ConfigError([
      `${variable}: ${file} cannot be read (${code}); check that the file exists and that the process can read it`,
    ]);
  }
  const value = text.replace(/\r?\n$/, '');
  if (value.trim() === '') throw new ConfigError([`${variable}: ${file} is empty; it must contain the secret`]);
  return value;
}

// How long a file counts as read, ms: what is asked for with every request must not read it each time.
const FRESH_MS = 1000;

/**
 * A secret for each of its uses: one that is in a file is read again, so that it is replaced without a restart.
 * Failure policy: a file that cannot be read then, or holds nothing that can be used, leaves the last one in use.
 * @param given settings, or an environment with the secrets that are in files (`withSecretFiles`)
 * @param options.isUsable what it may be replaced by; by default anything
 * @param options.freshMs how long a file counts as read
 * @returns undefined when there is no such secret
 */
export function currentSecret<Name extends SecretName>(
  given: { readonly [Key in Name | `${Name}_FILE`]?: string },
  name: Name,
  options: { isUsable?: (text: string) => boolean; freshMs?: number } = {},
): (() => string) | undefined {
  const { isUsable = () => true, freshMs = FRESH_MS } = options;
  const first: string | undefined = given[name];
  const file: string | undefined = given[fileVariable(name)];
  if (!first) return undefined;
  if (!file) return () => first;
  let last = first;
  let readAt = performance.now();
  return () => {
    if (performance.now() - readAt < freshMs) return last;
    readAt = performance.now();
    try {
      const text = readSecretFile(file, fileVariable(name));
      if (isUsable(text)) last = text;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
    return last;
  };
}
