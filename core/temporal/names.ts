// Names of task queues, workflow ids and search attributes in Temporal. They are stored in histories, so a released
// name must not change.
//
// Where several installations share a namespace, each has a prefix. Clients put it before every name
// (temporal-config/client.ts). Workflow code, which must not read settings, finds it in its own task queue.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Settings } from '../config/config.ts';

/**
 * The task queue of all workflows and of their activities, except those with a separate queue; of the installation
 * without prefix.
 */
export const TASK_QUEUE = 'hookyard';

// In no prefix, and in no name without one: so names of two installations are never the same.
const AFTER_PREFIX = '.';

/** A name as Temporal knows it. @param prefix of the installation; empty: it has none */
export const withPrefix = (prefix: string, name: string): string =>
  prefix === '' ? name : `${prefix}${AFTER_PREFIX}${name}`;

/** The name behind the prefix; null: it belongs to another installation. */
export function withoutPrefix(prefix: string, name: string): string | null {
  if (prefix === '') return name.includes(AFTER_PREFIX) ? null : name;
  const before = `${prefix}${AFTER_PREFIX}`;
  return name.startsWith(before) ? name.slice(before.length) : null;
}

export function prefixOf(taskQueue: string): string {
  const end = `${AFTER_PREFIX}${TASK_QUEUE}`;
  return taskQueue.endsWith(end) ? taskQueue.slice(0, -end.length) : '';
}

/**
 * A query for the Temporal UI, of ids. Others in the namespace may have the same, in a copy of the database for
 * example.
 */
export const queryOf = (prefix: string, query: string): string =>
  prefix === '' ? query : `${query} and TaskQueue = "${withPrefix(prefix, TASK_QUEUE)}"`;

export const messageTaskQueue = (taskQueue: string, via: 'mail' | 'http'): string => `${taskQueue}-messages-${via}`;

export const replayTaskQueue = (taskQueue: string): string => `${taskQueue}-replay`;

export const warehouseTaskQueue = (taskQueue: string): string => `${taskQueue}-warehouse`;

/** All task queues of an installation. @param taskQueue of its workflows */
export const taskQueuesOf = (taskQueue: string): string[] => [
  taskQueue,
  messageTaskQueue(taskQueue, 'mail'),
  messageTaskQueue(taskQueue, 'http'),
  replayTaskQueue(taskQueue),
  warehouseTaskQueue(taskQueue),
];

export const circuitWorkflowId = (routeId: string): string => `circuit:${routeId}`;

export const messageWorkflowId = (messageId: string): string => `message:${messageId}`;

export const warehouseWorkflowId = (destinationId: string): string => `warehouse:${destinationId}`;

// The search attributes of delivery workflows, by which an operator filters in the Temporal UI. The first five are set
// at the start; DeliveryStatus only when a delivery stops being routine, because every change of one is a write.

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

export const organizationIdAttribute = keyword('OrganizationId');
export const sourceIdAttribute = keyword('SourceId');
export const routeIdAttribute = keyword('RouteId');
export const destinationIdAttribute = keyword('DestinationId');
export const eventIdAttribute = keyword('EventId');
export const deliveryStatusAttribute = keyword('DeliveryStatus');

/** Search attributes that a namespace must have, all of type Keyword. */
export const searchAttributeNames = [
  organizationIdAttribute,
  sourceIdAttribute,
  routeIdAttribute,
  destinationIdAttribute,
  eventIdAttribute,
  deliveryStatusAttribute,
].map(({ name }) => name);

// A workflow as answers and mails name it: its id in Temporal, and where it is seen in the Temporal UI.

interface ShownWorkflow {
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
