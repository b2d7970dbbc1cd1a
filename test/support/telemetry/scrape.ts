// Reads the metrics of a process, as Prometheus does.
import { expect } from 'chai';
import { until } from '../until.ts';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The metrics of one scrape. */
export interface Scrape {
  samples: Sample[];
  /** By the name of the metric. */
  types: Map<string, string>;
  /** The sum of the samples with these labels, among others. @returns undefined when there is none */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const COMMENT = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

/** @throws AssertionError for a line that is not of the text format of Prometheus */
export async function scrape(port: number): Promise<Scrape> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.status).to.equal(200);
  expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  for (const line of (await answer.text()).split('\n')) {
    if (line === '') continue;
    const [, keyword, of = '', text = ''] = COMMENT.exec(line) ?? [];
    if (keyword === 'TYPE') {
      expect(types.has(of), `${of} twice`).to.equal(false);
      types.set(of, text);
    }
    if (line.startsWith('#')) continue;
    const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    expect(name, line).to.be.a('string');
    samples.push({ name: name ?? '', labels: labelsOf(labels), value: value === '+Inf' ? Infinity : Number(value) });
  }
  const value = (name: string, labels: Record<string, string> = {}) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, wanted]) => sample.labels[label] === wanted),
    );
    return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0);
  };
  return { samples, types, value };
}

/** A scrape that is no answer to an earlier one, which is used again for a moment. */
export async function nextScrape(port: number): Promise<Scrape> {
  const cpu = ({ value }: Scrape) => value('process_cpu_seconds_total');
  const first = cpu(await scrape(port));
  return until('the next figures', async () => {
    const next = await scrape(port);
    return cpu(next) !== first && next;
  });
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let read = 0;
  for (const [whole, name = '', value = ''] of text.matchAll(LABEL)) {
    labels[name] = value;
    read += whole.length;
  }
  expect(read, text).to.equal(text.length);
  return labels;
}
