// What the worker's bundle holds.
export { circuit } from './circuit.ts';
export { delivery } from './delivery.ts';
export { maintenance } from './maintenance.ts';
export { notify } from './notify.ts';
export { replay } from './replay.ts';
