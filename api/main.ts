// The API process.
import { TUNING } from '../core/tuning.ts';
import { runApiProcess } from './process.ts';

await runApiProcess(TUNING);
