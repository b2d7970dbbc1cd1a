// Where a text stops being JSON. Browsers say it in words of their own, so the place is found by what they name: a
// position, or a line and a column.
import type { Mark } from '../../editor/Editor.tsx';

const NONE: Mark[] = [];

export function jsonProblem(text: string): readonly Mark[] {
  try {
    JSON.parse(text);
    return NONE;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = Number(/\bline (\d+)/.exec(message)?.[1]);
    const position = Number(/\bposition (\d+)/.exec(message)?.[1]);
    const found = line || (Number.isFinite(position) ? text.slice(0, position).split('\n').length : lastLine(text));
    return [{ line: found, message: `Invalid JSON: ${message}` }];
  }
}

const lastLine = (text: string): number => text.trimEnd().split('\n').length;
