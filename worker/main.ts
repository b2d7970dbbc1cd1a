// The worker process.
import { TUNING } from '../core/config/tuning.ts';
import { runWorkerProcess } from './process.ts';

await runWorkerProcess(TUNING);
