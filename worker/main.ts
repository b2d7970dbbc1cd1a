// The worker process.
import { TUNING } from '../core/tuning.ts';
import { runWorkerProcess } from './process.ts';

await runWorkerProcess(TUNING);
