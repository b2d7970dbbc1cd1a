// Times as senders write them. docs/guide/warehouses.md has the dialects as a table.

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** RFC 5322, section 4.3, in hours; everybody else writes digits. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ z: 0, ut: 0, utc: 0, gmt: 0 },
  ...{ est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6, pst: -8, pdt: -7 },
};
// Two digits of a year below 50 are of this century (RFC 5322, section 4.3).
const CENTURY = 50;

const CLOCK = String.raw`(?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,12}))?)?`;
const OFFSET = String.raw`(?<sign>[+-])(?<zoneHour>\d{2})(?::?(?<zoneMinute>\d{2}))?`;
// Behind digits the name of the zone adds nothing: `+0000 UTC` (Go), `+01:00[Europe/Paris]` (RFC 9557).
const DIGITS_OR_UTC = String.raw`(?: ?(?:(?<zone>z|utc|gmt)|${OFFSET}(?: [a-z]{3,5})?)(?:\[[\w/+-]{1,64}\])?)?`;
const ANY_ZONE = `(?:(?:utc|gmt)?${OFFSET}|(?<zone>[a-z]{1,3}))`;
const COMMENT = String.raw`(?: \([^()]{0,64}\))?`;
const DAY_NAME = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?';
const MONTH = '(?<name>[a-z]{3})[a-z]{0,6}';

const dialect = (pattern: string) => new RegExp(`^${pattern}$`, 'i');

/** ISO 8601 and RFC 3339, of which the forms of PostgreSQL and Ruby are some. */
const ISO: readonly RegExp[] = [
  dialect(String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[t ]${CLOCK}${DIGITS_OR_UTC})?`),
  // As numbers, eight digits would be seconds before 1973.
  dialect(
    String.raw`(?<year>19\d{2}|20\d{2})(?<month>\d{2})(?<day>\d{2})(?:t(?<hour>\d{2})(?<minute>\d{2})(?:(?<second>\d{2})(?:[.,](?<fraction>\d{1,12}))?)?${DIGITS_OR_UTC})?`,
  ),
];
const OTHERS: readonly RegExp[] = [
  dialect(String.raw`(?<year>\d{4})/(?<month>\d{2})/(?<day>\d{2})(?: ${CLOCK}${DIGITS_OR_UTC})?`),
  // As numbers these would be milliseconds after the year 2600.
  dialect(
    String.raw`(?<year>19\d{2}|20\d{2})(?<month>\d{2})(?<day>\d{2})(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})`,
  ),
  // RFC 5322 and the two HTTP-dates with a comma (RFC 9110, section 5.6.7).
  dialect(
    `${DAY_NAME}(?<day>\\d{1,2})[ -]${MONTH}[ -](?<year>\\d{4}|\\d{2})(?: ${CLOCK}(?: ?${ANY_ZONE})?${COMMENT})?`,
  ),
  // C's asctime, `date` and Twitter: the year comes last.
  dialect(`${DAY_NAME}${MONTH} {1,2}(?<day>\\d{1,2}) ${CLOCK}(?: ${ANY_ZONE})? (?<year>\\d{4})`),
  dialect(`${DAY_NAME}${MONTH} (?<day>\\d{1,2}),? (?<year>\\d{4})(?: ${CLOCK}(?: ${ANY_ZONE})?${COMMENT})?`),
  dialect(`${CLOCK} ${MONTH} (?<day>\\d{1,2}), (?<year>\\d{4})(?: ${ANY_ZONE})?`),
];
/** Of .NET: milliseconds, and a zone that does not change them. */
const DOT_NET = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/;
// The longest form is that of JavaScript with the name of a zone.
const MAX_LENGTH = 140;

/**
 * Reads a time of ISO 8601. Without a zone it is UTC, a date alone its midnight.
 * @returns ms since 1970, without what is finer; null for anything else, as a day that the calendar does not have
 */
export const parseIsoTime = (text: string): number | null => parseIn(ISO, text);

export function parseTimestamp(text: string): number | null {
  const dotNet = DOT_NET.exec(text)?.[1];
  return dotNet === undefined ? (parseIn(ISO, text) ?? parseIn(OTHERS, text)) : Number(dotNet);
}

// From each of these on (1973, and 5138 in the unit before) a number counts the next finer unit.
const FIRST_MILLISECONDS = 1e11;
const FIRST_MICROSECONDS = 1e14;
const FIRST_NANOSECONDS = 1e17;

/** Milliseconds of a number that counts seconds, milliseconds, microseconds or nanoseconds since 1970. */
export function epochMs(number: number): number {
  const size = Math.abs(number);
  if (size < FIRST_MILLISECONDS) return number * 1000;
  if (size < FIRST_MICROSECONDS) return number;
  return size < FIRST_NANOSECONDS ? number / 1e3 : number / 1e6;
}

/** Whether there is this day, such as `2026-11-21`: `Date.parse` would take 30 February for 2 March. */
export const isCalendarDay = (date: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(date) && parseIsoTime(date) !== null;

function parseIn(dialects: readonly RegExp[], text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const groups = dialects.map((each) => each.exec(text)?.groups).find((found) => found !== undefined);
  return groups === undefined ? null : moment(groups);
}

function moment(parts: Readonly<Record<string, string | undefined>>): number | null {
  const { year = '', name, month = '', day, hour, minute, second, fraction = '' } = parts;
  const monthIndex = name === undefined ? Number(month) - 1 : MONTHS.indexOf(name.toLowerCase());
  const midnight = midnightOf(yearOf(year), monthIndex, Number(day));
  const clock = clockOf(Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0));
  const zone = zoneOf(parts);
  if (midnight === null || clock === null || zone === null) return null;
  return midnight + clock + Number(fraction.slice(0, 3).padEnd(3, '0')) - zone;
}

function yearOf(digits: string): number {
  if (digits.length > 2) return Number(digits);
  return Number(digits) + (Number(digits) < CENTURY ? 2000 : 1900);
}

function midnightOf(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // `Date.UTC` takes the years below 100 for those of a century later.
  date.setUTCFullYear(year, month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : null;
}

/** 24:00 is the end of a day, and 23:59:60 may be a leap second (RFC 3339, section 5.7), which is the next one here. */
function clockOf(hour: number, minute: number, second: number): number | null {
  const isEnd = hour === 24 && minute === 0 && second === 0;
  if ((hour > 23 && !isEnd) || minute > 59 || second > (minute === 59 ? 60 : 59)) return null;
  return isEnd ? DAY_MS : (hour * 60 + minute) * MINUTE_MS + second * 1000;
}

function zoneOf(parts: Readonly<Record<string, string | undefined>>): number | null {
  const { zone = 'z', sign, zoneHour, zoneMinute } = parts;
  if (sign === undefined) {
    const hours = ZONES[zone.toLowerCase()];
    return hours === undefined ? null : hours * 60 * MINUTE_MS;
  }
  const [hours, minutes] = [Number(zoneHour), Number(zoneMinute ?? 0)];
  if (hours > 23 || minutes > 59) return null;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}
