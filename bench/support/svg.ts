// The few marks that the plots of the benches are made of, as SVG 1.1 text.

const INK = '#222222';
const FONT = 'font-family="system-ui, sans-serif"';

/** A document with a white ground, so that it is readable on dark pages as well. */
export function svgDocument(width: number, height: number, marks: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ${FONT} font-size="12">`,
    rectangle(0, 0, width, height, '#ffffff'),
    ...marks,
    '</svg>',
    '',
  ].join('\n');
}

export function rectangle(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`;
}

export function label(
  x: number,
  y: number,
  content: string,
  {
    anchor = 'start',
    bold = false,
    color = INK,
  }: { anchor?: 'start' | 'middle' | 'end'; bold?: boolean; color?: string } = {},
): string {
  const weight = bold ? ' font-weight="600"' : '';
  return `<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}"${weight} fill="${color}">${escaped(content)}</text>`;
}

export function line(fromX: number, fromY: number, toX: number, toY: number): string {
  return polyline(
    [
      [fromX, fromY],
      [toX, toY],
    ],
    '#999999',
  );
}

export function polyline(points: [x: number, y: number][], color: string): string {
  const text = points.map(([x, y]) => `${short(x)},${short(y)}`).join(' ');
  return `<polyline points="${text}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
}

function escaped(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

function short(value: number): number {
  return Number(value.toFixed(1));
}
