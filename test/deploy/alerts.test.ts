// The alerts of deploy/observability/: Prometheus takes them, each fires and stays silent as its unit tests say, and
// has a runbook.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  alertsIn,
  PROMETHEUS_FOLDER,
  RULE_FILES,
  RULE_TEST_FILES,
  textOf,
  unknownIn,
} from '../support/telemetry/observability.ts';
import { promtool, requirePrometheus } from '../support/telemetry/prometheus.ts';

const alerts = RULE_FILES.flatMap((file) => alertsIn(textOf(file)));
const names = alerts.map(({ name }) => name);
const runbooks = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operate', 'runbooks.md'), 'utf8');

describe('The alerts', () => {
  it('say how urgent they are, and what to do', () => {
    expect(names).to.include.members(['HookyardNoWorker', 'HookyardNonDeterminism']);
    expect(new Set(names).size).to.equal(names.length);
    const headings = [...runbooks.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).to.have.members(names);
    for (const { name, text } of alerts) {
      expect(text, name).to.match(/severity: (page|ticket)\n/);
      expect(text, name)
        .to.match(/ summary: ./)
        .and.match(/ description: ./);
      expect(text, name).to.include(`runbook_url: docs/operate/runbooks.md#${name.toLowerCase()}\n`);
    }
  });

  it('look at metrics that Hookyard has, and so do their tests', () => {
    for (const file of [...RULE_FILES, ...RULE_TEST_FILES]) expect(unknownIn(textOf(file)), file).to.deep.equal([]);
    expect(unknownIn('sum(hookyard_nothing) + hookyard_attempts_total{outcome="x", a="b"}')).to.have.lengthOf(3);
  });

  describe('in Prometheus', function () {
    // promtool takes a few seconds of a core for a run.
    this.timeout(600_000);
    before(function () {
      requirePrometheus(this);
    });

    it('are valid, and so is the example of a configuration', () => {
      const { code, output } = promtool(PROMETHEUS_FOLDER, ['check', 'config', 'prometheus.yml']);
      expect(code, output).to.equal(0);
      for (const file of RULE_FILES) expect(output).to.include(`Checking ${file}`);
    });

    it('fire and stay silent', () => {
      const { code, output } = promtool(PROMETHEUS_FOLDER, ['test', 'rules', ...RULE_TEST_FILES]);
      expect(code, output).to.equal(0);
    });
  });
});
