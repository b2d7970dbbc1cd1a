// The period of figures on the page of a record, kept in its address.
import { NativeSelect } from '@mantine/core';
import { isRangeName, type RangeName, usePageSearch } from '../search.ts';

export function usePeriod(): RangeName {
  const [{ range }] = usePageSearch();
  return isRangeName(range) ? range : '24h';
}

export function Period() {
  const [, set] = usePageSearch();
  return (
    <NativeSelect
      size="xs"
      aria-label="Figures of"
      value={usePeriod()}
      onChange={(event) => set({ range: event.currentTarget.value, from: undefined, to: undefined })}
      data={[
        { value: '1h', label: 'Last hour' },
        { value: '24h', label: 'Last 24 hours' },
        { value: '7d', label: 'Last 7 days' },
        { value: '30d', label: 'Last 30 days' },
      ]}
    />
  );
}
