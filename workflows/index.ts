// What the worker's bundle holds.
export { delivery } from './delivery.ts';
export { maintenance } from './maintenance.ts';
export { notify } from './notify.ts';
export { replay } from './replay.ts';
