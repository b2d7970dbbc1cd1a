// How values are written: times in one named zone, sizes, counts, durations; text of strangers so that it cannot
// deceive.

export type Zone = 'utc' | 'local';

export const localZoneName = Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time';
export const zoneName = (zone: Zone): string => (zone === 'utc' ? 'UTC' : localZoneName);

const formats = new Map<string, Intl.DateTimeFormat>();
function formatIn(zone: Zone, withMs: boolean): Intl.DateTimeFormat {
  const key = `${zone} ${withMs}`;
  const known = formats.get(key);
  if (known) return known;
  // sv-SE writes 2026-11-24 00:31:05.
  const made = new Intl.DateTimeFormat('sv-SE', {
    ...(zone === 'utc' && { timeZone: 'UTC' }),
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(withMs && { fractionalSecondDigits: 3 as const }),
  });
  formats.set(key, made);
  return made;
}

/** `2026-11-24 00:31:05` in the zone; the zone itself is named once on every page. */
export function timeText(time: string | number | Date, zone: Zone, withMs = false): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '-' : formatIn(zone, withMs).format(date).replace(',', '.');
}

/** `2026-11-24 00:31:05 UTC`, where the zone matters */
export const exactText = (time: string | Date, zone: Zone, withMs = false): string =>
  `${timeText(time, zone, withMs)} ${zoneName(zone)}`;

const COUNT = new Intl.NumberFormat('en-US');
/** `12,431` */
export const countText = (count: number): string => COUNT.format(count);

/** Of a list: exact, or an estimate. */
export interface Total {
  total: number;
  /** Missing: it is exact. */
  totalIsExact?: boolean;
}

/** How far lists are counted. */
export const MOST_COUNTED = 100_000;

/** `12,431`, `100,000+`, or `about 1,230,000` */
export function totalText({ total, totalIsExact }: Total): string {
  if (totalIsExact !== false) return countText(total);
  return total === MOST_COUNTED + 1
    ? `${countText(MOST_COUNTED)}+`
    : `about ${countText(Number(total.toPrecision(3)))}`;
}

/** `92.6%`; only 100 is `100%`, and only 0 is `0%`. */
export const percentText = (percent: number): string =>
  `${percent === 100 || percent === 0 ? percent : Math.min(99.9, Math.max(0.1, percent)).toFixed(1)}%`;

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
/** `1.5 KiB` */
export function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

const EXACT = {
  ms: { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1000, ms: 1 },
  seconds: { d: 86_400, h: 3600, min: 60, s: 1 },
  bytes: { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, bytes: 1 },
};
export type Unit = keyof typeof EXACT;
/** In the largest unit of which it is a whole number: `30 s`, `1,500 ms`, `5 MiB`; without a unit `12,431`. */
export function unitText(value: number, unit?: Unit): string {
  const sizes = Object.entries(unit ? EXACT[unit] : {});
  const [name, size] = sizes.find(([, each]) => value !== 0 && value % each === 0) ?? sizes.at(-1) ?? ['', 1];
  return `${countText(value / size)} ${name}`.trimEnd();
}

/** `340 ms`, `2.5 s`, `3 min`, `2.1 h`, `4.0 d` */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} d`;
}

/** `in 3 min`, `5 s ago`, `just now` */
export function fromNowText(time: string, nowMs: number): string {
  const ms = new Date(time).getTime() - nowMs;
  if (!(Math.abs(ms) >= 1000)) return 'just now';
  const [unit, size] = Object.entries(EXACT.ms).find(([, each]) => Math.abs(ms) >= each) ?? ['s', 1000];
  return ms > 0 ? `in ${Math.round(ms / size)} ${unit}` : `${Math.floor(-ms / size)} ${unit} ago`;
}

/** `1 delivery`, `12,431 deliveries`; a count that may be estimated is given as text. */
export function plural(count: number, one: string, text = countText(count)): string {
  return `${text} ${count === 1 ? one : pluralOf(one)}`;
}
export const pluralOf = (one: string): string =>
  /(?:[sx]|ch)$/.test(one) ? `${one}es` : `${one.replace(/([^aeiou])y$/, '$1ie')}s`;

/** `200: 25, no response: 2`, the most first. */
export const countsText = (counts: Record<string, number>, nameOf: (key: string) => string): string =>
  Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([key, count]) => `${nameOf(key)}: ${countText(count)}`)
    .join(', ');

/** `retry now` to `Retry now`, `half_open` to `Half open`. */
export const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll('_', ' ');

// Control characters, half a surrogate pair, marks that turn the direction of text, and characters of no width: text
// with them can look like other text.
const DECEIVING = /[\p{Cc}\p{Cs}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/gu;

/** Text of strangers with what cannot be seen, or turns text around, as its code. */
export function plain(text: string): string {
  return text.replace(DECEIVING, (character) => {
    if (character === '\n') return '⏎';
    if (character === '\t') return '⇥';
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

/** The first characters, with how many there are. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${countText(text.length)} characters)`;
}

/**
 * What a select offers, of a label for each value. `Record<Type, string>` over a type of the client does not compile
 * without all of them.
 */
export const choicesOf = <Value extends string>(
  labels: Readonly<Record<Value, string>>,
): { value: Value; label: string }[] =>
  (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
