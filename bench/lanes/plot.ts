// The plot of the lanes: deliveries per second, and what each costs in CPU by process; both beside the limits.
import { type Cost, totalCpuMs } from '../support/cost.ts';
import { median } from '../support/measure.ts';
import { label, rectangle, svgDocument } from '../support/svg.ts';
import type { Round } from './index.ts';
import { COLUMNS } from './report.ts';

const PROCESSES: [name: keyof Cost['cpuMs'], title: string, fill: string][] = [
  ['api', 'API', '#4477aa'],
  ['worker', 'worker', '#66ccee'],
  ['temporal', 'Temporal', '#ccbb44'],
  ['postgres', 'PostgreSQL', '#228833'],
];
const LIMIT_FILL = '#bbbbbb';
const LANE_FILL = '#4477aa';

const WIDTH = 760;
const HEIGHT = 284;
const ROW_HEIGHT = 28;
const FIRST_ROW = 48;
const PANELS = { perSecond: 110, cpu: 430 };
const BAR_WIDTH = 210;

/** @returns an SVG document */
export function plotLanes(rounds: Round[]): string {
  const medianOf = (pick: (round: Round) => number) => median(rounds.map(pick));
  const perSecond = COLUMNS.map(([column]) => medianOf((round) => round[column].perSecond));
  const cpu = COLUMNS.map(([column]) => medianOf((round) => totalCpuMs(round[column].cost)));
  const scale = (values: number[]) => BAR_WIDTH / Math.max(...values);
  const marks = [
    label(PANELS.perSecond, 24, 'deliveries per second', { bold: true }),
    label(PANELS.cpu, 24, 'CPU per delivery, ms', { bold: true }),
  ];
  COLUMNS.forEach(([column, title], at) => {
    const y = FIRST_ROW + at * ROW_HEIGHT;
    const rate = perSecond[at] ?? 0;
    const fill = column.startsWith('bare') ? LIMIT_FILL : LANE_FILL;
    marks.push(label(PANELS.perSecond - 8, y + 13, title, { anchor: 'end' }));
    marks.push(rectangle(PANELS.perSecond, y, rate * scale(perSecond), 18, fill));
    marks.push(label(PANELS.perSecond + rate * scale(perSecond) + 6, y + 13, rate.toFixed(0)));
    let x = PANELS.cpu;
    for (const [name, , color] of PROCESSES) {
      const width = medianOf((round) => round[column].cost.cpuMs[name]) * scale(cpu);
      marks.push(rectangle(x, y, width, 18, color));
      x += width;
    }
    marks.push(label(x + 6, y + 13, (cpu[at] ?? 0).toFixed(2)));
  });
  return svgDocument(WIDTH, HEIGHT, [...marks, ...legend()]);
}

function legend(): string[] {
  return PROCESSES.flatMap(([, title, fill], at) => {
    const x = PANELS.cpu + at * 78;
    return [rectangle(x, HEIGHT - 26, 10, 10, fill), label(x + 14, HEIGHT - 17, title)];
  });
}
