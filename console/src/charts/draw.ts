// Draws series with uPlot; a file of its own, so that it is loaded with the first chart.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { countText, durationText, timeText, type Zone } from '../format.ts';
import type { ChartProps, Series } from './Chart.tsx';

// Chromium on Linux calls the language of the locale POSIX `en-US@posix`, which `Intl` refuses. uPlot asks for it when
// it is loaded, and no chart would be drawn.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}

const HEIGHT = 180;
/** Counts are whole: an axis has no halves. */
const WHOLE = [1, 2, 5]
  .flatMap((one) => Array.from({ length: 9 }, (_, power) => one * 10 ** power))
  .toSorted((a, b) => a - b);
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const FEWEST_COUNTS = 4;
const DAY_SECONDS = 86_400;

interface Drawn extends Pick<ChartProps, 'times' | 'series' | 'stepMs' | 'isLatency'> {
  zone: Zone;
}

/**
 * @param onStep is called with the step that was clicked, and the series that is nearest there
 * @returns what takes it away
 */
export function draw(
  place: HTMLElement,
  { times, series, zone, stepMs, isLatency }: Drawn,
  onStep: (index: number, series: number) => void,
): () => void {
  const colour = (name: string) => {
    place.style.color = `var(${name})`;
    const { color } = getComputedStyle(place);
    place.style.color = '';
    return color;
  };
  const axis = { stroke: colour('--quiet'), ticks: { show: false }, font: '11px sans-serif' };
  const shown = isLatency ? series.map(({ values }) => values) : stacked(series);
  const text = isLatency ? durationText : countText;
  const halfStep = stepMs / 2000;
  const bars = uPlot.paths.bars?.({ size: [0.75, 28] });
  const plot = new uPlot(
    {
      width: place.clientWidth || 300,
      height: HEIGHT,
      tzDate: (seconds) =>
        zone === 'utc' ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000),
      series: [
        {
          label: 'Time',
          value: (_, seconds) => (seconds === null ? '' : timeText(seconds * 1000, zone).slice(0, -3)),
        },
        ...series.map(({ label, color, values }) => ({
          label,
          stroke: colour(color),
          width: isLatency ? 2 : 0,
          ...(!isLatency && { fill: colour(color), ...(bars && { paths: bars }) }),
          points: { show: isLatency && values.filter((value) => value !== null).length < 30, size: 5 },
          value: (_: uPlot, __: number, ___: number, index: number | null) =>
            index === null ? '' : values[index] == null ? '–' : text(values[index]),
        })),
      ],
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 60,
          values: (_, ticks, __, ___, seconds) => ticks.map((tick) => tickText(tick * 1000, seconds, zone)),
        },
        {
          ...axis,
          grid: { stroke: colour('--line'), width: 1 },
          size: 52,
          ...(!isLatency && { incrs: WHOLE }),
          values: (_, ticks) => ticks.map((tick) => (isLatency ? durationText(tick) : COMPACT.format(tick))),
        },
      ],
      scales: {
        x: { range: (_, first, last) => [first - halfStep, last + halfStep] },
        y: { range: (_, __, most) => [0, isLatency ? Math.max(10, most * 1.1) : Math.max(FEWEST_COUNTS, most * 1.1)] },
      },
      cursor: { drag: { x: false, y: false }, sync: { key: 'time' }, points: { show: isLatency } },
    },
    [times.map((ms) => ms / 1000), ...shown] as uPlot.AlignedData,
    place,
  );
  const click = () => {
    const { idx, top = 0 } = plot.cursor;
    if (typeof idx !== 'number') return;
    const away = shown.map((values) => Math.abs(plot.valToPos(values[idx] ?? 0, 'y') - top));
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

/** `14:30`, or the day where it begins. */
function tickText(ms: number, stepSeconds: number, zone: Zone): string {
  const text = timeText(ms, zone);
  const time = text.slice(11, 16);
  return stepSeconds >= DAY_SECONDS || time === '00:00' ? text.slice(5, 10) : time;
}

/** Each with those after it below: the first is drawn first, as high as all together. */
function stacked(series: Series[]): (number | null)[][] {
  return series.map(({ values }, from) =>
    values.map((_, index) => {
      const sum = series.slice(from).reduce((total, one) => total + (one.values[index] ?? 0), 0);
      return sum === 0 ? null : sum;
    }),
  );
}
