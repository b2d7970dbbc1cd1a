// Filters that are yes or no.
import type { Search } from '../search.ts';

export const YES_NO = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
];

export const flagOf = (search: Search, name: string): boolean | undefined =>
  search[name] === undefined ? undefined : search[name] === 'true';
