// The API process.
import { TUNING } from '../core/config/tuning.ts';
import { runApiProcess } from './service/service.ts';

await runApiProcess(TUNING);
