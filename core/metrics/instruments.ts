// Instruments of this process: counters, histograms and gauges in plain memory. Recording costs a look-up in a map, so
// hot paths may do it. Exporters read them (telemetry/).
//
// Labels are bounded by construction: an instrument declares which values each label may have, or how many different
// ones it takes. What is beyond counts as OTHER. So nothing that a stranger sends makes a series.

export const OTHER = 'other';

export type Role = 'api' | 'worker';

type Values = readonly string[] | number;
type Labels = Record<string, Values>;
type LabelsOf<L extends Labels> = {
  [Name in keyof L]: L[Name] extends readonly (infer Value extends string)[] ? Value : string;
};

interface Definition<L extends Labels> {
  /** As Prometheus has it: seconds, bytes, `_total`. */
  name: string;
  /** One sentence, for operators. */
  help: string;
  in?: readonly Role[];
  labels?: L;
}

/** Units in UCUM, by what the name of an instrument ends in. */
const UNITS: readonly [ending: RegExp, unit: string][] = [
  [/_seconds(_total)?$/, 's'],
  [/_bytes$/, 'By'],
  [/_ratio$/, '1'],
];

export interface Point<Value> {
  labels: Readonly<Record<string, string>>;
  value: Value;
}

export interface Distribution {
  /** One more than there are bounds: the last one has no upper bound. */
  counts: number[];
  sum: number;
  count: number;
}

// Series of an instrument with fewer combinations are there from the start, so that the first increase is one.
const SHOWN_FROM_START = 32;
// Between the values of a key. No label holds it: values are our own words, or ids.
const SEPARATOR = '\n';

class SeriesMap<Value> {
  readonly #names: string[];
  readonly #values: Values[];
  readonly #seen = new Map<string, Set<string>>();
  readonly #series = new Map<string, Point<Value>>();
  readonly #first: () => Value;

  constructor(labels: Labels, first: () => Value) {
    this.#names = Object.keys(labels);
    this.#values = Object.values(labels);
    this.#first = first;
  }

  begin(): this {
    for (const combination of this.#fewCombinations()) this.of(combination);
    return this;
  }

  of(labels: Readonly<Record<string, string>>): Point<Value> {
    let key = '';
    for (const name of this.#names) key += labels[name] + SEPARATOR;
    return this.#series.get(key) ?? this.#make(labels);
  }

  all(): Point<Value>[] {
    return [...this.#series.values()];
  }

  #make(labels: Readonly<Record<string, string>>): Point<Value> {
    const bounded = Object.fromEntries(
      this.#names.map((name, index) => [name, this.#bounded(name, this.#values[index] ?? [], labels[name] ?? '')]),
    );
    const key = this.#names.map((name) => bounded[name] + SEPARATOR).join('');
    const known = this.#series.get(key);
    if (known) return known;
    const made = { labels: bounded, value: this.#first() };
    this.#series.set(key, made);
    return made;
  }

  #bounded(name: string, values: Values, value: string): string {
    if (typeof values !== 'number') return values.includes(value) ? value : OTHER;
    const seen = this.#seen.get(name) ?? new Set<string>();
    this.#seen.set(name, seen);
    if (!seen.has(value) && seen.size >= values) return OTHER;
    seen.add(value);
    return value;
  }

  #fewCombinations(): Record<string, string>[] {
    let found: Record<string, string>[] = [{}];
    for (const [index, name] of this.#names.entries()) {
      const values = this.#values[index] ?? [];
      if (typeof values === 'number') return [];
      found = found.flatMap((before) => values.map((value) => ({ ...before, [name]: value })));
      if (found.length > SHOWN_FROM_START) return [];
    }
    return found;
  }
}

abstract class Instrument<L extends Labels> {
  readonly definition: Definition<L> & { in: readonly Role[]; unit: string };
  constructor(definition: Definition<L>) {
    const unit = UNITS.find(([ending]) => ending.test(definition.name))?.[1] ?? '';
    this.definition = { in: ['api', 'worker'], ...definition, unit };
  }
}

/** Only grows. */
export class Counter<const L extends Labels = Record<never, never>> extends Instrument<L> {
  readonly kind = 'counter';
  readonly #series: SeriesMap<number>;

  constructor(definition: Definition<L>) {
    super(definition);
    this.#series = new SeriesMap<number>(definition.labels ?? {}, () => 0).begin();
  }

  add(labels: LabelsOf<L>, by = 1): void {
    this.#series.of(labels).value += by;
  }

  points(): Point<number>[] {
    return this.#series.all();
  }
}

export class Histogram<const L extends Labels = Record<never, never>> extends Instrument<L> {
  readonly kind = 'histogram';
  readonly bounds: readonly number[];
  readonly #series: SeriesMap<Distribution>;

  constructor({ bounds = QUICK, ...definition }: Definition<L> & { bounds?: readonly number[] }) {
    super(definition);
    this.bounds = bounds;
    const counts = bounds.length + 1;
    this.#series = new SeriesMap<Distribution>(definition.labels ?? {}, () => ({
      counts: new Array<number>(counts).fill(0),
      sum: 0,
      count: 0,
    })).begin();
  }

  /** @param value of less than 0, as clocks that differ give, counts as 0 */
  observe(labels: LabelsOf<L>, value: number): void {
    const { value: distribution } = this.#series.of(labels);
    const measured = value > 0 ? value : 0;
    let bucket = 0;
    while (bucket < this.bounds.length && measured > (this.bounds[bucket] ?? 0)) bucket += 1;
    distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
    distribution.sum += measured;
    distribution.count += 1;
  }

  points(): Point<Distribution>[] {
    return this.#series.all();
  }
}

/** A reading: a number without labels, several with them, or undefined while there is none. */
type Reading<L extends Labels> = number | readonly (readonly [LabelsOf<L>, number])[] | undefined;

/** What is read when it is exported. Reading must be cheap: nothing is asked and nothing is counted. */
export class Gauge<const L extends Labels = Record<never, never>> extends Instrument<L> {
  readonly kind: 'gauge' | 'counter';
  #read: (() => Reading<L>) | undefined;

  constructor(definition: Definition<L>, isTotal = false) {
    super(definition);
    this.kind = isTotal ? 'counter' : 'gauge';
  }

  /** @returns ends it */
  readFrom(read: () => Reading<L>): () => void {
    this.#read = read;
    return () => {
      if (this.#read === read) this.#read = undefined;
    };
  }

  points(): Point<number>[] {
    const reading = this.#read?.();
    if (reading === undefined) return [];
    const series = new SeriesMap<number>(this.definition.labels ?? {}, () => 0);
    const empty = {} as LabelsOf<L>;
    for (const [labels, value] of typeof reading === 'number' ? [[empty, reading] as const] : reading) {
      series.of(labels).value = value;
    }
    return series.all();
  }
}

export type AnyInstrument = Counter<Labels> | Histogram<Labels> | Gauge<Labels>;

/** Upper bounds of the buckets of histograms, in seconds: what should take milliseconds. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Requests that others answer; no destination may take longer than 60 s. */
export const REQUESTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** From milliseconds to the days that retries take. */
export const WAITS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 43_200, 172_800];
/** As the semantic conventions of HTTP advise. */
export const HTTP = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
