// A workflow as answers and mails name it: its id in Temporal, and where it is seen in the Temporal UI.
import type { Settings } from '../config/config.ts';
import { withPrefix } from './names.ts';

export interface ShownWorkflow {
  workflowId: string;
  /** Null when the URL of the UI is unknown. */
  temporalUrl: string | null;
}

/** @param name without the prefix of the installation */
export type WorkflowLink = (name: string) => ShownWorkflow;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i;

export function workflowLinks(
  settings: Pick<Settings, 'TEMPORAL_UI_URL' | 'TEMPORAL_UI_PORT' | 'HOOKYARD_TEMPORAL_PREFIX'>,
  { connectionOptions, namespace }: { connectionOptions: { address: string }; namespace: string },
): WorkflowLink {
  const base = settings.TEMPORAL_UI_URL ?? localUi(settings.TEMPORAL_UI_PORT, connectionOptions.address);
  const workflows = base && `${base.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (name) => {
    const workflowId = withPrefix(settings.HOOKYARD_TEMPORAL_PREFIX, name);
    return { workflowId, temporalUrl: workflows && `${workflows}/${encodeURIComponent(workflowId)}` };
  };
}

function localUi(port: number, temporalAddress: string): string | null {
  return port > 0 && LOOPBACK.test(temporalAddress) ? `http://localhost:${port}` : null;
}
