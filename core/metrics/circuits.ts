// What is measured of circuits.
import { CIRCUIT_STATES } from '../delivery/circuit.ts';
import { Counter } from './instruments.ts';

export const circuitTransitions = new Counter({
  name: 'hookyard_circuit_transitions_total',
  help: 'Changes of the state of circuits.',
  labels: { to: CIRCUIT_STATES },
  in: ['api', 'worker'],
});
