// The filter of lists whose records can be disabled.
import type { Search } from '../search.ts';

export const ENABLED = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
];

export const enabledOf = ({ enabled }: Search): boolean | undefined =>
  enabled === undefined ? undefined : enabled === 'true';
