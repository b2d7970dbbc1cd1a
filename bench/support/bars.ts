// Bars: what a figure has to be, printed beside what it is.

export interface Bar {
  what: string;
  value: number;
  unit: string;
  /** One of the two. */
  atLeast?: number;
  atMost?: number;
  /** The values the figure is the median of. */
  rounds?: number[];
}

/** A value that could not be measured (NaN, or something divided by nothing) meets no bar. */
function isMet({ value, atLeast, atMost }: Bar): boolean {
  return (
    Number.isFinite(value) && (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost)
  );
}

/** One line: the figure, the bar, whether it is met. */
export function barLine(bar: Bar): string {
  const { what, value, unit, atLeast, atMost, rounds } = bar;
  const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  const spread = rounds ? `   (rounds: ${rounds.map(decimals).join(', ')})` : '';
  return `  ${what.padEnd(46)} ${`${decimals(value)}${unit}`.padEnd(11)} ${limit}${unit}: ${isMet(bar) ? 'met' : 'MISSED'}${spread}`;
}

function decimals(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
