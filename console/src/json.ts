// JSON whose numbers keep their digits: a double holds about 15. Those that need more stay texts of JSON
// (JSON.rawJSON), which JSON.stringify writes as they were; a browser without it rounds, as JSON.parse does everywhere.
type RawJson = (text: string) => unknown;
const rawJson = (JSON as { rawJSON?: RawJson }).rawJSON;
const SAFE_DIGITS = 15;

export function exactJson(text: string): unknown {
  if (!rawJson) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined || isExact(value, context.source)) return value;
    return rawJson(context.source);
  });
}

function isExact(value: number, source: string): boolean {
  return Number.isFinite(value) && source.replace(/[eE].*$/, '').replace(/\D/g, '').length <= SAFE_DIGITS;
}

/** JSON with a line for each member; any other text as it is. */
export function indented(text: string): string {
  const parsed = jsonOrNothing(text);
  return parsed ? JSON.stringify(parsed.value, null, 2) : text;
}

/** Undefined for a text that is no JSON. */
export function jsonOrNothing(text: string): { value: unknown } | undefined {
  try {
    return { value: exactJson(text) };
  } catch {
    return undefined;
  }
}
