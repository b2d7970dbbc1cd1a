// Helm and kubectl-validate for tests, without a cluster: built with Go from the versions that their go.mod pin. The
// schemas of Kubernetes are inside of kubectl-validate; those of the operators come from the modules of their makers.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, fillOnce } from '../cache-folder.ts';
import { goProgram } from '../go-program.ts';

const run = promisify(execFile);
const log = (line: string) => console.log(`[test set-up] ${line}`);
// A go.mod each: they need different versions of Kubernetes' own packages.
const pins = (name: string) => join(import.meta.dirname, name);
const project = join(import.meta.dirname, '..', '..', '..', '..');
const CHART = join(project, 'deploy', 'helm', 'hookyard');
const WITHOUT = 'test/deploy/helm*.test.ts';
const LARGEST_OUTPUT = 64 * 1024 * 1024;

const CRDS: Record<string, string[]> = {
  'sigs.k8s.io/gateway-api@v1.4.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/kedacore/keda/v2@v2.18.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.91.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
};
const CRD_FOLDER = join(cacheFolder, 'test-crds-1');

/** Runs helm. @returns what it printed @throws Error with what it said */
async function helm(...args: string[]): Promise<string> {
  const program = await goProgram({ name: 'helm', source: 'helm.sh/helm/v4/cmd/helm', pins: pins('helm') }, WITHOUT);
  const { stdout, stderr } = await run(program, args, { maxBuffer: LARGEST_OUTPUT });
  return args[0] === 'template' ? stdout : `${stdout}${stderr}`;
}

export const lint = (...args: string[]) => helm('lint', '--strict', CHART, ...args);

/** Makes the archive of the chart, hookyard-<version>.tgz. */
export const pack = (folder: string) => helm('package', CHART, '--destination', folder);

/** The manifests of a release `hookyard`, one text each. */
export const template = (...args: string[]): Promise<string[]> => templateOf(CHART, ...args);

/** @param chart a folder or an archive */
export async function templateOf(chart: string, ...args: string[]): Promise<string[]> {
  const text = await helm('template', 'hookyard', chart, '--namespace', 'hooks', ...args);
  return text.split(/^---\n/m).filter((manifest) => manifest.trim() !== '');
}

/** Why these manifests are refused; empty when they are not. @param version of Kubernetes, such as 1.31 */
export async function validate(folder: string, version: string): Promise<string> {
  const source = 'sigs.k8s.io/kubectl-validate';
  const program = await goProgram({ name: 'kubectl-validate', source, pins: pins('validate') }, WITHOUT);
  const args = ['--version', version, '--local-crds', await crds(), folder];
  return run(program, args, { maxBuffer: LARGEST_OUTPUT }).then(
    () => '',
    (error: Error & { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}` || error.message,
  );
}

async function crds(): Promise<string> {
  await fillOnce(CRD_FOLDER, 'got the schemas of operators', log, async (unfinished) => {
    for (const [module, files] of Object.entries(CRDS)) {
      mkdirSync(unfinished, { recursive: true });
      const { stdout } = await run('go', ['mod', 'download', '-json', module], {
        cwd: unfinished,
        env: { ...process.env, GOWORK: 'off', GOFLAGS: '' },
      });
      const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
      for (const file of files) copyFileSync(join(folder, file), join(unfinished, basename(file)));
    }
  });
  return CRD_FOLDER;
}
