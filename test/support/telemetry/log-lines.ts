// What a process has logged, line by line.
import type { Service } from '../service.ts';

export interface LogLine {
  level: string;
  time: string;
  role: string;
  msg: string;
  [fact: string]: unknown;
}

/** @throws Error for a line that is no JSON */
export function logLines({ output }: Pick<Service, 'output'>, since = 0): LogLine[] {
  const lines = output().slice(since).split('\n');
  // The last one may be under way.
  lines.pop();
  return lines.filter((line) => line !== '').map(parsed);
}

/** Why a process could not run, a line each. */
export function problemsIn(output: string): string {
  const lines = logLines({ output: () => output }).filter(({ level }) => level === 'fatal');
  return lines.map(({ msg }) => msg.replace(/^cannot run: /, '')).join('\n');
}

function parsed(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    throw new Error(`a line of the log is no JSON: ${line}`);
  }
}
