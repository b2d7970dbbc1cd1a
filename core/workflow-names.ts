// Names of task queues and workflow ids in Temporal. They are stored in histories, so a released name must not change.

/** The task queue of all workflows and of their activities, except those with a separate queue. */
export const TASK_QUEUE = 'hookyard';

/** The task queue of the activities that send mail, beside the queue of their workflows. */
export const mailTaskQueue = (taskQueue: string): string => `${taskQueue}-mail`;

/** The task queue of the activities that send alerts, beside the queue of their workflows. */
export const alertTaskQueue = (taskQueue: string): string => `${taskQueue}-alert`;

/** The task queue of the activities that replay events, beside the queue of their workflows. */
export const replayTaskQueue = (taskQueue: string): string => `${taskQueue}-replay`;

/** The task queue of the activities that write files to warehouses, beside the queue of their workflows. */
export const warehouseTaskQueue = (taskQueue: string): string => `${taskQueue}-warehouse`;

/** The workflow id of a circuit, made of its route's id. */
export const circuitWorkflowId = (routeId: string): string => `circuit:${routeId}`;

/** One workflow sends the notifications of one kind about a route. */
export const notifyWorkflowId = (routeId: string, kind: string): string => `notify:${routeId}:${kind}`;

/** The workflow id of a message to a channel of alerts: about an issue and one of its changes, or by the message's own id. */
export const alertWorkflowId = (channelId: string, about: { issueId: string; number: number } | string): string =>
  typeof about === 'string' ? `alert:${channelId}:${about}` : `alert:${channelId}:${about.issueId}:${about.number}`;

/** The workflow id of a warehouse destination, made of its id. */
export const warehouseWorkflowId = (destinationId: string): string => `warehouse:${destinationId}`;
