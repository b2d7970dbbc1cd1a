// A client of Temporal for work that needs one and does not use it here: it never connects.
import { Connection } from '@temporalio/client';
import { InstallationClient } from '../../../temporal-config/client.ts';

export const unusedTemporal = (): InstallationClient =>
  new InstallationClient({ connection: Connection.lazy({ address: '127.0.0.1:1' }), prefix: '' });
