// A series over time. uPlot draws it, loaded when the first chart is seen; the figures are also in the page as text, and as CSV.
import { Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ApiCall } from '../api/curl.ts';
import { CopyMenu } from '../components/CopyMenu.tsx';
import { timeText } from '../format.ts';
import { useZone } from '../zone.tsx';

export interface Series {
  label: string;
  color: string;
  values: (number | null)[];
}

interface Props {
  title: string;
  /** What it says in one line: totals. */
  summary: string;
  /** Beginnings of the steps, in ms. */
  times: number[];
  series: Series[];
  call: ApiCall;
  /** The list that holds what a step counts. */
  listOf: (from: string, to: string) => { to: string; search: Record<string, string> };
  stepMs: number;
}

export function Chart({ title, summary, times, series, call, listOf, stepMs }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { zone } = useZone();
  const navigate = useNavigate();
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    void import('./draw.ts').then(({ draw }) => {
      if (isGone || !place.current) return;
      end = draw(place.current, { times, series, zone }, (index) => {
        const at = times[index];
        if (at === undefined) return;
        const target = listOf(new Date(at).toISOString(), new Date(at + stepMs).toISOString());
        void navigate({ to: target.to, search: target.search as never });
      });
    });
    return () => {
      isGone = true;
      end();
    };
  }, [times, series, zone, listOf, stepMs, navigate]);
  const rows = times.map((at, index) => ({ at, index }));
  const columns = [
    { title: 'Time', cell: () => null, csv: ({ at }: { at: number }) => new Date(at).toISOString() },
    ...series.map(({ label, values }) => ({
      title: label,
      cell: () => null,
      csv: ({ index }: { index: number }) => values[index],
    })),
  ];
  const first = times[0];
  return (
    <section aria-label={title}>
      <Group justify="space-between">
        <h2>{title}</h2>
        <CopyMenu call={call} columns={columns} rows={rows} />
      </Group>
      <Text size="sm">{summary}</Text>
      <div
        className="chart"
        ref={place}
        role="img"
        aria-label={`${title}: ${summary}${first === undefined ? '' : ` Since ${timeText(first, zone)}.`}`}
      />
    </section>
  );
}
