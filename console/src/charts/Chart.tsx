// A series over time. uPlot draws it, loaded when the first chart is seen; the figures are also in the page as text, as
// links to the lists of what they count, and as CSV.
import { useComputedColorScheme } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../api/curl.ts';
import { ExportMenu } from '../components/ExportMenu.tsx';
import { Card, Empty, Table } from '../components/ui.tsx';
import { countText, timeText } from '../format.ts';
import { useZone } from '../zone.tsx';

export interface Series {
  label: string;
  /** A variable of console.css. */
  color: string;
  values: (number | null)[];
  /** The list that holds what it counts. */
  list: List;
}

export interface ChartProps {
  title: string;
  /** What it says in one line: totals. */
  summary: string;
  /** Beginnings of the steps, in ms. */
  times: number[];
  series: Series[];
  call: ApiCall;
  /** Lines of milliseconds; otherwise bars of counts, stacked. */
  isLatency: boolean;
  stepMs: number;
}

export interface List {
  to: string;
  search: Record<string, string | undefined>;
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The list of what a series counts in a step. */
const listIn = ({ list: { to, search } }: Series, at: number, stepMs: number) => ({
  to,
  // What is of the next step is not of this one.
  search: { ...search, from: iso(at), to: iso(at + stepMs - 1) } as never,
});

export function Chart({ title, summary, times, series, call, stepMs, isLatency }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const { zone } = useZone();
  const scheme = useComputedColorScheme();
  const navigate = useNavigate();
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  // biome-ignore lint/correctness/useExhaustiveDependencies: its colours are those of the theme
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    if (isEmpty) return;
    void import('./draw.ts').then(({ draw }) => {
      if (isGone || !place.current) return;
      end = draw(place.current, { times, series, zone, stepMs, isLatency }, (index, which) => {
        const [at, shown] = [times[index], series[which]];
        if (at !== undefined && shown) void navigate(listIn(shown, at, stepMs));
      });
    });
    return () => {
      isGone = true;
      end();
    };
  }, [times, series, zone, stepMs, navigate, isLatency, isEmpty, scheme]);
  const columns = [
    { title: 'Time', value: ({ at }: { at: number }) => iso(at) },
    ...series.map(({ label, values }) => ({ title: label, value: ({ index }: { index: number }) => values[index] })),
  ];
  const rows = times.map((at, index) => ({ at, index }));
  return (
    <Card title={title} actions={<ExportMenu call={call} columns={columns} rows={rows} />}>
      <p className="quiet">{summary}</p>
      {isEmpty ? (
        <Empty title="No data in this time range" />
      ) : (
        <div className="chart" ref={place} role="img" aria-label={`${title}: ${summary}`} />
      )}
      {!isEmpty && <Steps title={title} {...{ times, series, stepMs, isLatency }} />}
    </Card>
  );
}

type StepsProps = Pick<ChartProps, 'title' | 'times' | 'series' | 'stepMs' | 'isLatency'>;

/** The steps in which something was counted, for keyboards and screen readers: each figure leads to its list. */
function Steps({ title, times, series, stepMs, isLatency }: StepsProps) {
  const { zone } = useZone();
  const [isOpen, setOpen] = useState(false);
  const steps = times.flatMap((at, index) => (series.some(({ values }) => values[index]) ? [{ at, index }] : []));
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="small">View as table</summary>
      {isOpen && (
        <Table
          title={`${title} over time`}
          className="scroll numbers"
          heads={['From', ...series.map(({ label }) => label)]}
          rows={steps.map(({ at, index }) => [
            timeText(at, zone),
            ...series.map((one) => {
              const value = one.values[index] ?? 0;
              if (value === 0) return '–';
              const text = isLatency ? `${countText(Math.round(value))} ms` : countText(value);
              const label = `${text} ${one.label}, ${timeText(at, zone)}`;
              return (
                <Link key={one.label} {...listIn(one, at, stepMs)} aria-label={label}>
                  {text}
                </Link>
              );
            }),
          ])}
        />
      )}
    </details>
  );
}
