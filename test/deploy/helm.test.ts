// The chart for Kubernetes, without a cluster: what it renders for several values, and what it refuses.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';
import { classifyAddress } from '../../outbound/http/address-guard.ts';
import { containerOf, type Manifest, manifest, manifestsOf, podOf } from '../support/programs/kubernetes/manifests.ts';
import { lint, template, validate } from '../support/programs/kubernetes/tools.ts';
import { COLD_START_MS } from '../support/programs/go-program.ts';

const project = join(import.meta.dirname, '..', '..');
const values = join(import.meta.dirname, 'helm');
const golden = join(values, 'golden');
const VALUES = readdirSync(values)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => basename(name, '.yaml'));
// The oldest that the chart allows and the newest whose schemas kubectl-validate has.
const KUBERNETES = ['1.27', '1.30'];
/** Rules and dashboards are kept in deploy/observability, which another test compares with what is rendered. */
const withoutFiles = (text: string) =>
  text.startsWith('# Source: hookyard/templates/monitoring.yaml\n')
    ? text.replace(
        /^(?:data|spec):\n(?: {2}(?:groups:|\S+\.(?:json|yml):)[\s\S]*)$/m,
        '# The files of deploy/observability.\n',
      )
    : text;
const fileOf = (name: string) => ['--values', join(values, `${name}.yaml`)];

describe('The Helm chart', function () {
  this.timeout(COLD_START_MS);
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-helm-'));
  const texts = new Map<string, string[]>();
  const rendered = (name: string): Manifest[] => manifestsOf(texts.get(name) ?? []);
  before(async () => {
    for (const name of VALUES) texts.set(name, await template(...fileOf(name)));
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const name of VALUES) {
    it(`passes helm's own checks: ${name}`, async () => {
      expect(await lint(...fileOf(name))).to.include('0 chart(s) failed');
    });

    it(`gives every pod no rights at all: ${name}`, () => {
      const pods = rendered(name).filter(({ spec }) => spec?.template !== undefined);
      expect(pods).to.not.be.empty;
      for (const each of pods) {
        const pod = podOf(each);
        const container = containerOf(pod);
        expect(pod.automountServiceAccountToken).to.equal(false);
        expect(pod.securityContext).to.deep.include({
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(container.securityContext).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        for (const { name: volume, mountPath, readOnly } of container.volumeMounts) {
          expect(pod.volumes.map((known) => known.name)).to.include(volume);
          expect(mountPath === '/tmp' || readOnly, mountPath).to.equal(true);
        }
        // A secret is a file; none is in a variable, and the chart holds none.
        for (const { name: variable, value } of container.env ?? []) {
          expect(variable).to.not.match(/(?:KEY|KEYS|SECRET|PASSWORD|DATABASE_URL|SMTP_URL)$/);
          if (variable.endsWith('_FILE')) expect(value).to.equal(`/etc/hookyard/secrets/${variable.slice(0, -5)}`);
        }
      }
      expect(rendered(name).map(({ kind }) => kind)).to.not.include('Secret');
    });
  }

  it('gives both roles settings that Hookyard takes', () => {
    const secrets = {
      DATABASE_URL: 'postgres://user@host/db',
      DATABASE_DIRECT_URL: 'postgres://user@host/db',
      HOOKYARD_ENCRYPTION_KEYS: 'k1:key',
      HOOKYARD_API_KEY: 'whr_0123456789abcdef',
      HOOKYARD_OPERATOR_KEY: '0'.repeat(32),
      SMTP_URL: 'smtp://host',
    };
    for (const name of VALUES) {
      for (const role of ['api', 'worker']) {
        const { env = [] } = containerOf(podOf(manifest(rendered(name), 'Deployment', `-${role}`)));
        const settings = Object.fromEntries(env.map(({ name: variable, value }) => [variable, value]));
        const inFiles = Object.entries(secrets).filter(([variable]) => settings[`${variable}_FILE`]);
        expect(() => readSettings({ ...settings, ...Object.fromEntries(inFiles) }), `${name}: ${role}`).to.not.throw();
        if (name !== 'everything') continue;
        expect(settings).to.include({ HOOKYARD_MAX_PAYLOAD_BYTES: '20971520', OTEL_TRACES_SAMPLER_ARG: '0.1' });
        if (role === 'worker') expect(settings).to.include({ HOOKYARD_CONSOLE: 'on' });
      }
    }
  });

  // To see in a review what a change of the chart changes. What is kept was taken by the schemas of Kubernetes when it
  // was written: they take minutes to build, and what is the same is right still.
  for (const name of VALUES) {
    it(`renders what is kept in test/deploy/helm/golden: ${name}`, async () => {
      const text = (texts.get(name) ?? []).map(withoutFiles).join('---\n');
      const file = join(golden, `${name}.yaml`);
      if (process.env.UPDATE_GOLDEN) {
        await expectValid(name);
        writeFileSync(file, text);
      }
      expect(text, 'UPDATE_GOLDEN=1 writes it again').to.equal(readFileSync(file, 'utf8'));
    });
  }

  async function expectValid(name: string): Promise<void> {
    const manifests = join(folder, name);
    mkdirSync(manifests);
    for (const [index, text] of (texts.get(name) ?? []).entries())
      writeFileSync(join(manifests, `${index}.yaml`), text);
    for (const version of KUBERNETES) expect(await validate(manifests, version), version).to.equal('');
  }

  it('lets a process end by itself before it is killed', () => {
    const grace = (ending: string) =>
      podOf(manifest(rendered('minimal'), 'Deployment', ending)).terminationGracePeriodSeconds;
    // api/service/ending.ts: drain, shutdown, 5 s. worker/process.ts: twice the shutdown, 30 s.
    expect(grace('-api')).to.be.above(10 + 15 + 5);
    expect(grace('-worker')).to.be.above(2 * 15 + 30);
  });

  it('closes the addresses from which clouds give out credentials, and leaves the rest open', () => {
    const { spec } = manifest(rendered('minimal'), 'NetworkPolicy');
    const [{ to }] = spec.egress as [{ to: { ipBlock?: { cidr: string; except: string[] } }[] }];
    const blocks = to.flatMap(({ ipBlock }) => ipBlock ?? []);
    expect(blocks.map(({ cidr }) => cidr)).to.deep.equal(['0.0.0.0/0', '::/0']);
    const closed = blocks.flatMap(({ except }) => except.map((range) => range.replace(/\/(?:32|128)$/, '')));
    expect(closed).to.include.members(['169.254.169.254', '168.63.129.16', 'fd00:ec2::254']);
    expect(closed).to.include.members(['169.254.170.2', '169.254.170.23', 'fd00:ec2::23']);
    for (const address of closed) expect(classifyAddress(address).tier, address).to.equal('forbidden');
    expect(spec.policyTypes).to.deep.equal(['Ingress', 'Egress']);
  });

  type Rule = { to: { ipBlock?: { cidr: string } }[]; ports?: { port: number; protocol?: string }[] };
  const egressOf = (manifests: Manifest[]) => manifest(manifests, 'NetworkPolicy').spec.egress as Rule[];

  it('lets pods ask for names at a metadata address that is a name server too, unless it shall not', async () => {
    const [, names] = egressOf(rendered('minimal'));
    expect(names).to.deep.equal({
      to: [{ ipBlock: { cidr: '169.254.169.254/32' } }],
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
    });
    const texts = await template(...fileOf('minimal'), '--set-json', 'networkPolicy.nameServers=[]');
    expect(egressOf(manifestsOf(texts))).to.have.length(1);
  });

  it('opens the address that gives the pods their identity when it is asked to, and keeps it closed to everything else', async () => {
    const [usual, names, ...none] = egressOf(rendered('minimal'));
    expect(none).to.deep.equal([]);
    const opened: Record<string, [string[], number[]]> = {
      'eks-pod-identity': [['169.254.170.23/32', 'fd00:ec2::23/128'], [80]],
      gke: [
        ['169.254.169.254/32', '169.254.169.252/32'],
        [80, 988],
      ],
      node: [['169.254.169.254/32', 'fd00:ec2::254/128'], [80]],
    };
    for (const [identity, [addresses, ports]] of Object.entries(opened)) {
      const texts = await template(...fileOf('minimal'), '--set', `networkPolicy.identity=${identity}`);
      const [same, sameNames, rule, ...others] = egressOf(manifestsOf(texts));
      expect([same, sameNames], identity).to.deep.equal([usual, names]);
      expect(
        rule?.to.map(({ ipBlock }) => ipBlock?.cidr),
        identity,
      ).to.deep.equal(addresses);
      expect(
        rule?.ports?.map(({ port }) => port),
        identity,
      ).to.deep.equal(ports);
      expect(others).to.deep.equal([]);
    }
  });

  it('carries the rules and dashboards of deploy/observability as they are', () => {
    const everything = rendered('everything');
    const observability = join(project, 'deploy', 'observability');
    const textOf = (of: string, name: string) => readFileSync(join(observability, of, name), 'utf8');
    const rules = manifest(everything, 'ConfigMap', '-rules').data ?? {};
    expect(Object.keys(rules)).to.have.members(['alerts.rules.yml', 'recording.rules.yml']);
    for (const [name, text] of Object.entries(rules)) expect(text.trim()).to.equal(textOf('prometheus', name).trim());
    const dashboards = manifest(everything, 'ConfigMap', '-dashboards').data ?? {};
    expect(Object.keys(dashboards)).to.have.members(readdirSync(join(observability, 'grafana')));
    for (const [name, text] of Object.entries(dashboards))
      expect(JSON.parse(text)).to.deep.equal(JSON.parse(textOf('grafana', name)));
    for (const name of ['alerts', 'recording']) {
      const { groups } = parseYaml(textOf('prometheus', `${name}.rules.yml`)) as { groups: unknown };
      expect(manifest(everything, 'PrometheusRule', `-${name}`).spec.groups).to.deep.equal(groups);
    }
  });

  it('asks for no more workers than PostgreSQL has connections for', async () => {
    const { spec } = manifest(rendered('everything'), 'ScaledObject');
    // (300 - 2 x 6 x 12 - 10) / (2 x 8): as many again may be ending during an upgrade.
    expect(spec.maxReplicaCount).to.equal(9);
    const refused = await refusalOf('--set', 'worker.replicas=9');
    expect(refused).to.include('database.maxConnections is 190').and.include('8 workers, not for 9 workers');
    const oneAfterTheOther = await refusalOf('--set', 'worker.replicas=30', '--set', 'worker.versioning=false');
    expect(oneAfterTheOther).to.include('16 workers, not for 30 workers');
  });

  const refusalOf = (...args: string[]) =>
    template(...fileOf('minimal'), ...args).then(
      () => '',
      (error: Error) => error.message,
    );
  const refused: [string, string, RegExp][] = [
    ['a misspelt value', 'api.replica=3', /replica/],
    ['a number out of range', 'worker.databaseConnections=4', /databaseConnections/],
    ['an image without a name', 'image.repository=', /repository/],
    ['an address that is no host and port', 'temporal.address=https://temporal', /address/],
    ['a secret as a setting', 'config.DATABASE_URL=postgres://x', /config\/DATABASE_URL/],
    ['a setting that the chart makes', 'worker.env.HOOKYARD_PORT=80', /worker\/env\/HOOKYARD_PORT/],
    ["a label that is the chart's", 'worker.podLabels.app\\.kubernetes\\.io/name=x', /podLabels/],
    ["a volume that is the chart's", 'extraVolumes[0].name=secrets', /extraVolumes/],
    ['an identity that it does not know', 'networkPolicy.identity=aws', /identity/],
    ['versioning as a setting', 'config.HOOKYARD_WORKER_VERSIONING=off', /config\/HOOKYARD_WORKER_VERSIONING/],
    ['an ingress without a host', 'ingress.enabled=true', /hosts/],
    ['autoscaling of workers without a Prometheus', 'worker.autoscaling.enabled=true', /prometheusUrl/],
    ['certificates for Temporal without TLS', 'temporal.tls.secret=temporal-client', /temporal\/tls/],
    [
      'two authorities for Temporal',
      'temporal.tls.enabled=true,temporal.tls.secret=x,temporal.tls.hasCa=true,temporal.tls.ca.secret=y',
      /temporal\.tls\.hasCa and temporal\.tls\.ca/,
    ],
    [
      'fewer APIs at most than at least',
      'api.autoscaling.enabled=true,api.autoscaling.minReplicas=4,api.autoscaling.maxReplicas=3',
      /api\.autoscaling\.maxReplicas is 3/,
    ],
    [
      'fewer workers at most than at least',
      'worker.autoscaling.enabled=true,worker.autoscaling.prometheusUrl=http://x,worker.autoscaling.maxReplicas=1',
      /worker\.autoscaling\.maxReplicas is 1/,
    ],
    [
      'two ways in',
      'httpRoute.enabled=true,httpRoute.parentRefs[0].name=x,ingress.enabled=true,ingress.hosts[0]=x',
      /choose one/,
    ],
    ['migrations without the owner', 'secrets.migrateDatabaseUrl.key=', /migrateDatabaseUrl/],
  ];
  for (const [what, set, message] of refused) {
    it(`refuses ${what}`, async () => {
      expect(await refusalOf('--set', set)).to.match(message);
    });
  }
});
