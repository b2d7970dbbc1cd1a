/** `1 delivery`, `12 deliveries`; with a verb: `plural(count, 'delivery was', 'deliveries were')`. */
export function plural(count: number, one: string, many = pluralOf(one)): string {
  return `${count} ${count === 1 ? one : many}`;
}

export const pluralOf = (one: string): string =>
  /(?:[sx]|ch)$/.test(one) ? `${one}es` : `${one.replace(/([^aeiou])y$/, '$1ie')}s`;
