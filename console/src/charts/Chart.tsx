// A series over time. uPlot draws it, loaded when the first chart is seen; the figures are also in the page as text, as links to the
// lists of what they count, and as CSV.
import { Group, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../api/curl.ts';
import { CopyMenu } from '../components/CopyMenu.tsx';
import { countText, timeText } from '../format.ts';
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
  /** The list that holds what a step of a series counts. */
  listOf: (series: number, from: string, to: string) => List;
  isLatency: boolean;
  stepMs: number;
}

export interface List {
  to: string;
  search: Record<string, string | undefined>;
}

export function Chart({ title, summary, times, series, call, listOf, stepMs, isLatency }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { zone } = useZone();
  const navigate = useNavigate();
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    void import('./draw.ts').then(({ draw }) => {
      if (isGone || !place.current) return;
      end = draw(place.current, { times, series, zone }, (index, which) => {
        const at = times[index];
        if (at === undefined) return;
        const target = listOf(which, new Date(at).toISOString(), new Date(at + stepMs).toISOString());
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
      <Steps title={title} {...{ times, series, listOf, stepMs, isLatency }} />
    </section>
  );
}

type StepsProps = Pick<Props, 'title' | 'times' | 'series' | 'listOf' | 'stepMs' | 'isLatency'>;

/** The steps in which something was counted, for keyboards and screen readers: each figure leads to its list. */
function Steps({ title, times, series, listOf, stepMs, isLatency }: StepsProps) {
  const { zone } = useZone();
  const [isOpen, setOpen] = useState(false);
  const steps = times.flatMap((at, index) => (series.some(({ values }) => values[index]) ? [{ at, index }] : []));
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title} as a table</summary>
      {isOpen && steps.length === 0 && <Text size="sm">There is nothing in this time.</Text>}
      {isOpen && steps.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keys too
        <section className="table steps" aria-label={`${title}: steps`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" className="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.map(({ at, index }) => (
                <tr key={at}>
                  <th scope="row">{timeText(at, zone)}</th>
                  {series.map(({ label, values }, which) => {
                    const value = values[index] ?? 0;
                    const { to, search } = listOf(
                      which,
                      new Date(at).toISOString(),
                      new Date(at + stepMs).toISOString(),
                    );
                    const text = isLatency ? `${countText(Math.round(value))} ms` : countText(value);
                    return (
                      <td key={label} className="number">
                        {value === 0 ? (
                          '-'
                        ) : (
                          <Link to={to} search={search as never} aria-label={`${text} ${label}, ${timeText(at, zone)}`}>
                            {text}
                          </Link>
                        )}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
