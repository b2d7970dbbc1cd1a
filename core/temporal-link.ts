// Where a delivery's workflow is seen in the Temporal UI.
import type { Settings } from './config.ts';

/** The URL of a workflow in the Temporal UI; null when the URL of the UI is unknown. */
export type WorkflowLink = (workflowId: string) => string | null;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i;

/** The URL of the UI: TEMPORAL_UI_URL, or the port of the UI beside a Temporal server on this machine. */
export function workflowLinks(
  settings: Pick<Settings, 'TEMPORAL_UI_URL' | 'TEMPORAL_UI_PORT'>,
  { connectionOptions, namespace }: { connectionOptions: { address: string }; namespace: string },
): WorkflowLink {
  const base = settings.TEMPORAL_UI_URL ?? localUi(settings.TEMPORAL_UI_PORT, connectionOptions.address);
  if (base === null) return () => null;
  const workflows = `${base.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (workflowId) => `${workflows}/${encodeURIComponent(workflowId)}`;
}

function localUi(port: number, temporalAddress: string): string | null {
  return port > 0 && LOOPBACK.test(temporalAddress) ? `http://localhost:${port}` : null;
}
