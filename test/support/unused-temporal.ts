// A client of Temporal for work that needs one and does not use it here: it never connects.
import { Client, Connection } from '@temporalio/client';

export const unusedTemporal = (): Client => new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
