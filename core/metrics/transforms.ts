// What is measured of transforms.
import { TRANSFORM_TYPES } from '../config/transform-types.ts';
import { QUICK } from './bounds.ts';
import { Counter, Histogram } from './instruments.ts';

export const transformDuration = new Histogram({
  name: 'hookyard_transform_duration_seconds',
  help: 'How long the code of transforms ran, without waiting and loading.',
  unit: 's',
  labels: { language: TRANSFORM_TYPES },
  bounds: QUICK,
  in: ['api', 'worker'],
});

export const transformFailures = new Counter({
  name: 'hookyard_transform_failures_total',
  help: 'Transforms that gave no result: their code failed, ran into a limit (time, memory, output) or gave nothing; sandbox: not their fault.',
  labels: { cause: ['code', 'time', 'memory', 'output', 'nothing', 'sandbox'] },
  in: ['api', 'worker'],
});
