// Times as texts in ISO 8601 and RFC 3339, of which PostgreSQL's own form is one.

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d+)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?)?$/i;

/** A date, or a date with a time, in ms since 1970; null for anything else. Without a zone it is UTC, a date alone its midnight. */
export function parseIsoTime(text: string): number | null {
  const [matched, date = '', time = '00:00', second = ':00', hours = '+00', minutes = '00'] = TIME.exec(text) ?? [];
  if (matched === undefined || !isCalendarDay(date)) return null;
  const ms = Date.parse(`${date}T${time}${second.replace(',', '.')}${hours}:${minutes}`);
  return Number.isNaN(ms) ? null : ms;
}

/** Whether there is this day, such as `2026-11-21`: `Date.parse` would take 30 February for 2 March. */
export function isCalendarDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}
