/** So many items, each made with its number from 0 on. */
export const times = <Item>(count: number, item: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => item(n));
