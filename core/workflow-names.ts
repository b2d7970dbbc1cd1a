// The names by which processes find each other's work in Temporal: task queues and ids of workflows. They stand in histories, so a
// name that was released stays.

/** The task queue of all workflows and of their activities, but for those that have a queue of their own. */
export const TASK_QUEUE = 'hookyard';

/** The task queue of the activities that send mail, beside the queue of their workflows. */
export const mailTaskQueue = (taskQueue: string): string => `${taskQueue}-mail`;

/** The task queue of the activities that replay events, beside the queue of their workflows. */
export const replayTaskQueue = (taskQueue: string): string => `${taskQueue}-replay`;

/** The task queue of the activities that write files to warehouses, beside the queue of their workflows. */
export const warehouseTaskQueue = (taskQueue: string): string => `${taskQueue}-warehouse`;

/** A circuit's workflow is known by its route. */
export const circuitWorkflowId = (routeId: string): string => `circuit:${routeId}`;

/** One workflow sends the notifications of one kind about a route. */
export const notifyWorkflowId = (routeId: string, kind: string): string => `notify:${routeId}:${kind}`;

/** The workflow that writes the files of a warehouse destination is known by it. */
export const warehouseWorkflowId = (destinationId: string): string => `warehouse:${destinationId}`;
