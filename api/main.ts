// The API process.
import { TUNING } from '../core/config/tuning.ts';
import { runApiProcess } from './service/process.ts';

await runApiProcess(TUNING);
