// What the chart renders, as tests read it.
import { parseYaml } from '@redocly/openapi-core';

export interface Container {
  name: string;
  image: string;
  command: string[];
  args?: string[];
  env?: { name: string; value: string }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext: Record<string, unknown>;
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}

interface Probe {
  httpGet: { path: string; port: string };
}

export interface PodSpec {
  automountServiceAccountToken: boolean;
  securityContext: Record<string, unknown>;
  terminationGracePeriodSeconds?: number;
  containers: Container[];
  volumes: {
    name: string;
    projected?: { sources: { secret: { name: string; items: { key: string; path: string }[] } }[] };
  }[];
}

export interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // Of the kind; tests name what they look at.
  spec: Record<string, unknown> & { template?: { metadata: { labels: Record<string, string> }; spec: PodSpec } };
  data?: Record<string, string>;
}

export const manifestsOf = (texts: string[]) => texts.map((text) => parseYaml(text) as Manifest);

/** The manifest of a kind whose name ends so. @throws Error when there is none */
export function manifest(manifests: Manifest[], kind: string, ending = ''): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name.endsWith(ending));
  if (!found) throw new Error(`no ${kind} with a name in ...${ending}`);
  return found;
}

/** The pod that a Deployment or a Job makes. */
export function podOf({ kind, spec }: Manifest): PodSpec {
  if (!spec.template) throw new Error(`a ${kind} has no pod`);
  return spec.template.spec;
}

export function containerOf(pod: PodSpec): Container {
  const [container] = pod.containers;
  if (!container || pod.containers.length > 1) throw new Error('one container was expected');
  return container;
}
