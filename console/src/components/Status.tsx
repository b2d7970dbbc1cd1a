// A status as a word with a colour; never by colour alone.
import { Badge } from '@mantine/core';

const COLORS: Record<string, string> = {
  delivered: 'green',
  success: 'green',
  written: 'green',
  resolved: 'green',
  closed: 'green',
  healthy: 'green',
  failed: 'red',
  schema_failed: 'red',
  filter_failed: 'red',
  open: 'red',
  failing: 'red',
  partial: 'orange',
  degraded: 'orange',
  circuit_open: 'orange',
  half_open: 'orange',
  retrying: 'yellow',
  pending: 'blue',
  acknowledged: 'blue',
};

export function Status({ of }: { of: string }) {
  return (
    <Badge color={COLORS[of] ?? 'gray'} variant="default" leftSection={<Dot color={COLORS[of] ?? 'gray'} />} tt="none">
      {of.replaceAll('_', ' ')}
    </Badge>
  );
}

function Dot({ color }: { color: string }) {
  return (
    <svg width="8" height="8" aria-hidden="true">
      <circle cx="4" cy="4" r="4" fill={`var(--mantine-color-${color}-6)`} />
    </svg>
  );
}
