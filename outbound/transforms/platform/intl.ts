// Languages and time zones. What a machine has as its own does not count: the language is en-US and the zone UTC unless
// code says another.
import { LRUCache } from 'lru-cache';
import { type Part, RangeProblem, textOf } from './values.ts';

const METHODS = {
  DateTimeFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts'],
  NumberFormat: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts'],
  Collator: ['compare'],
  PluralRules: ['select', 'selectRange'],
  RelativeTimeFormat: ['format', 'formatToParts'],
  ListFormat: ['format', 'formatToParts'],
  DurationFormat: ['format', 'formatToParts'],
  DisplayNames: ['of'],
  Segmenter: ['segment'],
} as const;
type ClassName = keyof typeof METHODS;

const MAX_TEXT = 65_536;
const MAX_LOCALES = 100;
// Each holds data of ICU, some 100 KB of it; making one takes 0.1 ms, using it some microseconds.
const made = new LRUCache<string, object>({ max: 50 });

const isClass = (name: unknown): name is ClassName => typeof name === 'string' && Object.hasOwn(METHODS, name);

/**
 * Languages as they are given to the host: a text or a list of texts. Of any other object with a length, the host would
 * look for as many members as that says, and nothing could end it.
 */
function localesOf(given: unknown, fallback: string | string[]): string | string[] {
  if (given === null || given === undefined) return fallback;
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length > MAX_LOCALES) throw new RangeProblem(`The list has more than ${MAX_LOCALES} locales`);
  return list.map((each) => {
    if (typeof each !== 'string') throw new TypeError('A locale must be a string such as de-AT');
    return textOf(each, 1000);
  });
}

function formatterOf(name: unknown, locales: unknown, options: unknown): object {
  if (!isClass(name)) throw new TypeError(`Intl.${String(name).slice(0, 100)} is not supported`);
  const key = JSON.stringify([name, locales, options]);
  if (key.length > 4096) throw new RangeProblem('Too many options');
  const known = made.get(key);
  if (known !== undefined) return known;
  const given = typeof options === 'object' && options !== null ? options : {};
  const all = name === 'DateTimeFormat' ? { timeZone: 'UTC', ...given } : given;
  const Class = Reflect.get(Intl, name) as new (locales: string | string[], options: object) => object;
  const formatter = new Class(localesOf(locales, 'en-US'), all);
  made.set(key, formatter);
  return formatter;
}

/** How a value crosses: a letter for its type, and the value. */
function unpacked(packed: unknown): unknown {
  const [type, value] = packed as [string, unknown];
  if (type === 'n') return Number(value);
  if (type === 'b') return BigInt(textOf(value, 1000));
  if (type === 'u') return undefined;
  return value;
}

function intlCall([name, locales, options, method, args]: readonly unknown[]): unknown {
  if (JSON.stringify(args).length > MAX_TEXT) throw new RangeProblem(`The text has more than ${MAX_TEXT} characters`);
  const formatter = formatterOf(name, locales, options);
  const methods: readonly string[] = isClass(name) ? METHODS[name] : [];
  if (method !== 'resolvedOptions' && !methods.includes(String(method))) throw new TypeError('No such method');
  const result = (Reflect.get(formatter, String(method)) as (...all: unknown[]) => unknown).apply(
    formatter,
    (args as unknown[]).map(unpacked),
  );
  if (method !== 'segment') return result;
  // One at a time: each holds a copy of the whole text.
  return Array.from(result as Intl.Segments, ({ segment, index, isWordLike }) => ({ segment, index, isWordLike }));
}

function offsetOf(zone: string, ms: number): string {
  const [, sign, hours = '', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign !== undefined) return `${sign}${hours}${minutes}`;
  if (!/[A-Za-z]/.test(zone))
    throw new RangeProblem(`Invalid time zone: ${zone}; use an offset such as +0530 or a name such as Asia/Kolkata`);
  const formatter = formatterOf('DateTimeFormat', 'en-US', {
    timeZone: zone,
    timeZoneName: 'longOffset',
  }) as Intl.DateTimeFormat;
  const name = formatter.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name === 'GMT' ? '+0000' : name.replace(/^GMT|:/g, '');
}

export const intl: Part = {
  mentioned: /\b(?:Intl|toLocale\w*|localeCompare)\b/,
  script: `(call, define) => {
    const pack = (value) => {
      if (value instanceof Date) return ['n', String(value.getTime())];
      if (typeof value === 'bigint') return ['b', String(value)];
      if (typeof value === 'number') return ['n', String(value)];
      if (value === undefined) return ['u'];
      if (typeof value !== 'object' || value === null) return ['s', value];
      if (typeof value[Symbol.iterator] === 'function') return ['l', [...value]];
      // A number that a double does not hold.
      return typeof value.valueOf() === 'number' ? ['s', String(value)] : ['o', value];
    };
    const now = (args) => (args.length === 0 || args[0] === undefined ? [Date.now()] : args);
    const Intl = {};
    for (const [name, methods] of Object.entries(${JSON.stringify(METHODS)})) {
      const Format = function (locales, options) {
        const self = new.target === undefined ? Object.create(Format.prototype) : this;
        const asked = [name, locales ?? null, options ?? null];
        const ask = (method, args) => call('intl', [...asked, method, args.map(pack)]);
        ask('resolvedOptions', []);
        for (const method of methods)
          define(method, (...args) => ask(method, name === 'DateTimeFormat' && !method.startsWith('formatRange') ? now(args) : args), self);
        define('resolvedOptions', () => ask('resolvedOptions', []), self);
        return self;
      };
      define('name', name, Format);
      define('supportedLocalesOf', (locales) => call('locales', [name, locales ?? []]), Format);
      define(Symbol.toStringTag, 'Intl.' + name, Format.prototype);
      define(name, Format, Intl);
    }
    define('getCanonicalLocales', (locales) => call('locales', [null, locales ?? []]), Intl);
    define('supportedValuesOf', (key) => call('supported', [key]), Intl);
    define('Intl', Intl);
    const { DateTimeFormat, NumberFormat, Collator } = Intl;
    const day = ['weekday', 'year', 'month', 'day'], time = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
    const styles = ['dateStyle', 'timeStyle'];
    const local = (needed, added) => function (locales, options = {}) {
      if (Number.isNaN(this.getTime())) return 'Invalid Date';
      const isGiven = [...needed, ...styles].some((each) => options?.[each] !== undefined);
      const wanted = isGiven ? options : { ...options, ...Object.fromEntries(added.map((each) => [each, 'numeric'])) };
      return new DateTimeFormat(locales, wanted).format(this);
    };
    const [date, clock] = [['year', 'month', 'day'], ['hour', 'minute', 'second']];
    define('toLocaleString', local([...day, ...time], [...date, ...clock]), Date.prototype);
    define('toLocaleDateString', local(day, date), Date.prototype);
    define('toLocaleTimeString', local(time, clock), Date.prototype);
    for (const { prototype } of [Number, BigInt])
      define('toLocaleString', function (locales, options) { return new NumberFormat(locales, options).format(this.valueOf()); }, prototype);
    define('toLocaleString', function (locales, options) {
      return Array.from(this, (each) => each?.toLocaleString(locales, options) ?? '').join(',');
    }, Array.prototype);
    define('localeCompare', function (other, locales, options) {
      return new Collator(locales, options).compare(String(this), String(other));
    }, String.prototype);
    define('toLocaleUpperCase', function (locales) { return call('letters', [true, String(this), locales ?? 'en-US']); }, String.prototype);
    define('toLocaleLowerCase', function (locales) { return call('letters', [false, String(this), locales ?? 'en-US']); }, String.prototype);
  }`,
  operations: {
    intl: intlCall,
    // The offset of a zone at a time, as `+0530`; an offset is one already.
    zone: ([zone, ms]) => offsetOf(textOf(zone, 100), Number(ms)),
    locales: ([name, locales]) => {
      const given = localesOf(locales, []);
      if (!isClass(name)) return Intl.getCanonicalLocales(given);
      return (Reflect.get(Intl, name) as typeof Intl.NumberFormat).supportedLocalesOf(given);
    },
    supported: ([key]) => Intl.supportedValuesOf(key as 'timeZone'),
    letters: ([isUpper, text, locales]) =>
      isUpper === true
        ? textOf(text).toLocaleUpperCase(localesOf(locales, 'en-US'))
        : textOf(text).toLocaleLowerCase(localesOf(locales, 'en-US')),
  },
};
