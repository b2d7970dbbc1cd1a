// Importing this keeps Temporal's SDK quiet below errors: tests provoke its warnings on purpose.
import { DefaultLogger, Runtime } from '@temporalio/worker';

export const quietLogger = new DefaultLogger('ERROR');

Runtime.install({ logger: quietLogger, telemetryOptions: { logging: { filter: 'OFF' } } });
