// What the worker's bundle holds.
export { circuit } from './circuit.ts';
export { delivery } from './delivery.ts';
export { maintenance } from './maintenance.ts';
export { message } from './message.ts';
export { reconcile } from './maintenance.ts';
export { replay } from './replay.ts';
export { warehouseFlush } from './warehouse-flush.ts';
