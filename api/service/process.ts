// The API process: wiring only. main.ts starts it.
import { describeSettings, readLogSettings, readSettings } from '../../core/config/config.ts';
import { endWithParent } from '../../core/process/end-request.ts';
import { withSecretFiles } from '../../core/config/secret-files.ts';
import { createLog, exitWith, logForNode } from '../../core/process/log.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { startService } from './service.ts';

export async function runApiProcess(tuning: Tuning): Promise<void> {
  const canEndInOrder = endWithParent();
  const log = createLog(readLogSettings(process.env), 'api');
  logForNode(log);
  try {
    const env = withSecretFiles(process.env);
    const settings = readSettings(env);
    // npm start, which names the data folder, has printed them already.
    if (!process.argv.some((arg) => arg.startsWith('--data-dir=')))
      log.info({ settings: describeSettings(settings) }, 'the API starts');
    await startService(settings, tuning, env, log);
    canEndInOrder();
  } catch (error) {
    exitWith(log, error);
  }
}
