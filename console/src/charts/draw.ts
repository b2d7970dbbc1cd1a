// Draws series with uPlot; a file of its own, so that it is loaded with the first chart.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { timeText, type Zone } from '../format.ts';
import type { Series } from './Chart.tsx';

const HEIGHT = 180;

/** @param onStep is called with the step that was clicked, and the series that is nearest there @returns what takes it away */
export function draw(
  place: HTMLElement,
  { times, series, zone }: { times: number[]; series: Series[]; zone: Zone },
  onStep: (index: number, series: number) => void,
): () => void {
  const ink = getComputedStyle(place).color;
  const axis = { stroke: ink, grid: { stroke: `color-mix(in srgb, ${ink} 15%, transparent)`, width: 1 } };
  const plot = new uPlot(
    {
      width: place.clientWidth || 300,
      height: HEIGHT,
      tzDate: (seconds) =>
        zone === 'utc' ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000),
      series: [
        { value: (_, seconds) => (seconds === null ? '-' : timeText(seconds * 1000, zone)) },
        ...series.map(({ label, color }) => ({ label, stroke: color, width: 2, points: { show: times.length < 3 } })),
      ],
      axes: [axis, { ...axis, size: 56 }],
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
      cursor: { drag: { x: false, y: false } },
    },
    [times.map((ms) => ms / 1000), ...series.map(({ values }) => values)],
    place,
  );
  const click = () => {
    const { idx, top = 0 } = plot.cursor;
    if (typeof idx !== 'number') return;
    const away = series.map(({ values }) => Math.abs(plot.valToPos(values[idx] ?? 0, 'y') - top));
    onStep(idx, away.indexOf(Math.min(...away)));
  };
  plot.over.addEventListener('click', click);
  const observer = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width)
      plot.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  observer.observe(place);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}
