// A real Prometheus and its promtool, for the rules and dashboards in deploy/. They are the machine's own (Debian:
// apt-get install prometheus); nothing is downloaded here.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../local/ports.ts';
import { killed, outputOf } from '../programs/children.ts';
import { leaveOutWithout, machineProgram } from '../programs/machine-programs.ts';
import { until } from '../until.ts';

const HOW_TO_INSTALL =
  'Prometheus is not installed: "apt-get install prometheus" or "brew install prometheus" lets this test run';
const PROGRAMS = ['prometheus', 'promtool'];
const SCRAPE_SECONDS = 1;

/** Leaves a test out when there is no Prometheus on this machine. */
export const requirePrometheus = (context: Mocha.Context): void =>
  leaveOutWithout(
    PROGRAMS.every((program) => machineProgram(program)) ? null : HOW_TO_INSTALL,
    'REQUIRE_PROMETHEUS',
    context,
  );

/** Runs promtool to its end. @param folder in which it runs @param input for its standard input */
export function promtool(folder: string, args: string[], input?: string): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, input, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

/** One series of an answer, with its values from old to new. */
export interface Series {
  metric: Record<string, string>;
  values: number[];
}

interface Rule {
  health: 'ok' | 'unknown' | 'err';
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/**
 * Starts a Prometheus that scrapes every second; resolves when it answers.
 * @param ports of this machine, where metrics are served
 * @param ruleFiles absolute paths
 */
export async function startPrometheus(ports: number[], ruleFiles: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-prometheus-'));
  const [port = 0] = await freePorts(1);
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration(ports, ruleFiles)));
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, '--log.level=warn'];
  const child = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const output = outputOf(child);
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await killed(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until('Prometheus to be ready', async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${output()}`);
      return (await fetch(`${url}/-/ready`)).ok;
    });
  } catch (error) {
    await close();
    throw error;
  }
  /**
   * The series that an expression gives, over the last minute or so many seconds, in steps of one.
   * @throws Error when it is none
   */
  async function query(expression: string, seconds = 60): Promise<Series[]> {
    const now = Date.now() / 1000;
    const range = { query: expression, start: String(now - seconds), end: String(now), step: '1' };
    const { result } = await ask<{ result: { metric: Record<string, string>; values: [number, string][] }[] }>(
      `${url}/api/v1/query_range?${new URLSearchParams(range)}`,
    );
    return result.map(({ metric, values }) => ({ metric, values: values.map(([, value]) => Number(value)) }));
  }
  // It is ready seconds before it scrapes; what is counted until then has no rate.
  await until('the first scrapes', async () => (await query('up == 1')).length === ports.length).catch(
    async (error) => {
      await close();
      throw error;
    },
  );
  return {
    /** Of its pages. */
    url,
    query,
    async rules() {
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>(`${url}/api/v1/rules`);
      return groups.flatMap(({ rules }) => rules);
    },
    close,
  };
}

// JSON is YAML, too.
function configuration(ports: number[], ruleFiles: string[]): object {
  const targets = ports.map((port) => `127.0.0.1:${port}`);
  return {
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, evaluation_interval: `${SCRAPE_SECONDS}s` },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: 'hookyard', static_configs: [{ targets }] }],
  };
}

async function ask<Data>(url: string): Promise<Data> {
  const answer = await fetch(url);
  const body = (await answer.json()) as { status: string; data: Data; error?: string };
  if (body.status !== 'success') throw new Error(`Prometheus answered ${answer.status}: ${body.error}`);
  return body.data;
}
