// What is in deploy/observability/: alerts and dashboards, as tests read them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instruments } from '../../../core/metrics/index.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'deploy', 'observability');
/** Rules, their unit tests, and an example of a configuration. */
export const PROMETHEUS_FOLDER = join(folder, 'prometheus');
const GRAFANA_FOLDER = join(folder, 'grafana');

const filesOf = (of: string, ending: string) => readdirSync(of).filter((name) => name.endsWith(ending));
export const RULE_FILES = filesOf(PROMETHEUS_FOLDER, '.rules.yml');
export const RULE_TEST_FILES = filesOf(PROMETHEUS_FOLDER, '.test.yml');
export const textOf = (file: string) => readFileSync(join(PROMETHEUS_FOLDER, file), 'utf8');

export interface Alert {
  name: string;
  /** Of its file, from `- alert:` to the next one. */
  text: string;
}

/** The alerts of a file. Read by their lines, so that no parser for YAML is needed. */
export function alertsIn(text: string): Alert[] {
  const parts = text.split(/^(?= {6}- alert: | {2}- name: )/m).filter((part) => part.startsWith('      - alert: '));
  return parts.map((part) => ({ name: /- alert: (\w+)/.exec(part)?.[1] ?? '', text: part }));
}

export interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

export const dashboards = filesOf(GRAFANA_FOLDER, '.json').map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(join(GRAFANA_FOLDER, file), 'utf8')) as Dashboard,
}));

const OWN_METRIC = /\b((?:hookyard|http_server|process|nodejs|v8js)_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!=|!~|=)\s*"([^"]*)"/g;
// Of Prometheus itself.
const ADDED_LABELS = ['instance', 'job', 'le'];

/** Metrics, labels and values of labels in an expression or in a file of rules that Hookyard does not have. */
export function unknownIn(text: string): string[] {
  return [...text.matchAll(OWN_METRIC)].flatMap(([, name = '', matchers = '']) => {
    const instrument = instruments.find(({ kind, definition }) => namesOf(kind, definition.name).includes(name));
    if (instrument === undefined) return [name];
    const labels = instrument.definition.labels ?? {};
    return [...matchers.matchAll(MATCHER)].flatMap(([, label = '', value = '']) => {
      if (ADDED_LABELS.includes(label)) return [];
      const values = labels[label];
      if (values === undefined) return [`${name}{${label}}`];
      if (typeof values === 'number') return [];
      return value.split('|').flatMap((one) => (values.includes(one) ? [] : [`${name}{${label}="${one}"}`]));
    });
  });
}

const namesOf = (kind: string, name: string) =>
  kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
