// The API process: wiring only.
import { ConfigError, describeSettings, readSettings } from '../core/config.ts';
import { createLog } from '../core/log.ts';
import { startService } from './service.ts';

try {
  const settings = readSettings(process.env);
  const log = createLog(settings, 'api');
  // npm start, which names the data folder, has printed them already.
  if (!process.argv.some((arg) => arg.startsWith('--data-dir=')))
    log.info({ settings: describeSettings(settings) }, 'the API starts');
  await startService(settings, process.env, log);
} catch (error) {
  const lines =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) console.error(line);
  process.exit(1);
}
