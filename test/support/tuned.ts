// A process with other limits than those of core/config/tuning.ts: node test/support/tuned.ts <api or worker> <limits
// as JSON>
import { TUNING, type Tuning } from '../../core/config/tuning.ts';

const [role, limits = '{}'] = process.argv.slice(2);
const tuning: Tuning = { ...TUNING, ...(JSON.parse(limits) as Partial<Tuning>) };
if (role === 'api') await (await import('../../api/service/service.ts')).runApiProcess(tuning);
else await (await import('../../worker/process.ts')).runWorkerProcess(tuning);
