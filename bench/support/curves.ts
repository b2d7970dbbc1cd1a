// A small chart of curves over time, for the plots of the benches.
import { label, line, polyline } from './svg.ts';

export interface Curve {
  name: string;
  color: string;
  /** In order; drawn at equal distances. */
  values: number[];
}

export interface Chart {
  title: string;
  /** What the horizontal axis ends with, for example "30 min". */
  end: string;
  curves: Curve[];
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The marks of a chart: title, names of the curves, both axes from 0, and the curves. */
export function chart({ title, end, curves, x, y, width, height }: Chart): string[] {
  const top = Math.max(1, ...curves.flatMap((curve) => curve.values));
  const bottom = y + height;
  const points = (values: number[]) =>
    values.map((value, at): [number, number] => [
      x + (at * width) / Math.max(1, values.length - 1),
      bottom - (value / top) * height,
    ]);
  return [
    label(x, y - 14, title, { bold: true }),
    ...curves.map(({ name, color }, at) =>
      label(x + width, y - 14 - 14 * (curves.length - 1 - at), name, { anchor: 'end', color }),
    ),
    line(x, bottom, x + width, bottom),
    line(x, y, x, bottom),
    label(x - 6, y + 4, top.toFixed(0), { anchor: 'end' }),
    label(x - 6, bottom + 4, '0', { anchor: 'end' }),
    label(x + width, bottom + 16, end, { anchor: 'end' }),
    ...curves.map(({ color, values }) => polyline(points(values), color)),
  ];
}
