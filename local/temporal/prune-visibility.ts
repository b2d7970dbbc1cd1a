// Drops the visibility indexes of a Temporal of one's own that Hookyard does not use.
import { Connection } from '@temporalio/client';
import { temporalConnectionOptions, WITHOUT_PROXY } from '../../temporal-config/connection.ts';
import { columnsOfAllNamespaces } from '../../temporal-config/namespace.ts';
import { oneLine, StartupError } from '../errors.ts';
import { dropUnusedIndexes } from './visibility-indexes.ts';

/**
 * Keeps the columns of the search attributes of every namespace.
 * @param url of the visibility database, as the owner of its table
 * @param env where Temporal is: TEMPORAL_ADDRESS and its kin
 * @returns the names of the indexes
 * @throws StartupError when the server or the database cannot be used
 */
export async function pruneVisibility(
  url: string,
  env: Record<string, string | undefined>,
  dryRun: boolean,
): Promise<string[]> {
  const used = await usedColumns(env);
  try {
    return await dropUnusedIndexes(url, { used, inUse: true, dryRun });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The visibility database cannot be used: ${oneLine(error)}`);
  }
}

async function usedColumns(env: Record<string, string | undefined>): Promise<string[]> {
  const { address, apiKey, tls, metadata } = temporalConnectionOptions(env).connectionOptions;
  try {
    const connection = await Connection.connect({ address, apiKey, tls, metadata, channelArgs: WITHOUT_PROXY });
    return await columnsOfAllNamespaces(connection).finally(() => connection.close());
  } catch (error) {
    throw new StartupError(
      `Temporal at ${address} does not list its namespaces, of which search attributes are kept: ${oneLine(error)}`,
    );
  }
}
