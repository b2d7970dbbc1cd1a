// npm run audit: asks the npm registry for known vulnerabilities of the packages that the service runs with. Ends with 0 when there
// are none that are high or critical, with 1 when there are, and with 2 when the registry could not be asked: then nothing is known.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..');
const DEADLINE_MS = 120_000;
const UNKNOWN = 2;
const args = ['audit', '--omit=dev', '--audit-level=high', '--json', '--fetch-retries=1', '--fetch-timeout=20000'];

/** Output of `npm audit --json`: a report, or an error. */
interface Report {
  metadata?: { vulnerabilities?: Record<string, number> };
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  message?: string;
}

function audit(): number {
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const { stdout, error } = spawnSync(command, [...first, ...args, ...process.argv.slice(2)], {
    cwd: project,
    encoding: 'utf8',
    timeout: DEADLINE_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = parse(stdout);
  const counts = report.metadata?.vulnerabilities;
  if (!counts) {
    const reason = error?.message ?? report.message ?? 'it gave no report';
    console.error(`WARNING: the dependencies were NOT audited: the registry could not be asked (${reason})`);
    return UNKNOWN;
  }
  const grave = Object.entries(report.vulnerabilities ?? {}).filter(([, { severity }]) =>
    ['high', 'critical'].includes(severity),
  );
  for (const [name, { severity, via }] of grave) {
    const why = via.map((cause) => (typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`));
    console.error(`${name}: ${severity}: ${why.join('; ')}`);
  }
  const { total = 0 } = counts;
  console.log(`npm audit: ${grave.length} packages with grave vulnerabilities, ${total - grave.length} with others`);
  return grave.length > 0 ? 1 : 0;
}

function parse(text: string | null): Report {
  try {
    return JSON.parse(text ?? '') as Report;
  } catch {
    return {};
  }
}

process.exitCode = audit();
