// Values that did not fit their column and gave way to its default or null, counted for each column.
// Rules: WH-19, WH-49.

export type Conversion = {
  /** The column. */
  target: string;
  /** Values. */
  count: number;
  /** The event of the first one. */
  eventId: string;
};

/** Counts in the order in which columns come up. */
export class Conversions {
  readonly #byTarget = new Map<string, Conversion>();

  add({ target, count, eventId }: Conversion): void {
    const known = this.#byTarget.get(target);
    if (known === undefined) this.#byTarget.set(target, { target, count, eventId });
    else known.count += count;
  }

  get list(): Conversion[] {
    return [...this.#byTarget.values()];
  }
}

/** Of all columns. */
export const convertedCount = (conversions: readonly Conversion[]): number =>
  conversions.reduce((sum, { count }) => sum + count, 0);
