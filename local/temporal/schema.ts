// The schemas of Temporal's two databases, through Temporal's own SQL tool (the schema files are inside the tool).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { oneLine, StartupError } from '../errors.ts';

const run = promisify(execFile);

/**
 * Creates or updates both schemas.
 * @throws StartupError with what the SQL tool says
 */
export async function updateTemporalSchemas(options: {
  sqlTool: string;
  databaseUrl: string;
  visibilityUrl: string;
}): Promise<void> {
  const { sqlTool, databaseUrl, visibilityUrl } = options;
  await Promise.all([
    updateSchema(sqlTool, databaseUrl, 'postgresql/v12/temporal'),
    updateSchema(sqlTool, visibilityUrl, 'postgresql/v12/visibility'),
  ]);
}

async function updateSchema(sqlTool: string, url: string, schema: string): Promise<void> {
  await runTool(sqlTool, url, ['setup-schema', '--version', '0.0']); // does nothing to a schema that has a version
  await runTool(sqlTool, url, ['update-schema', '--schema-name', schema]);
}

async function runTool(sqlTool: string, url: string, args: string[]): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = {
    ...process.env,
    SQL_PLUGIN: 'postgres12_pgx',
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: decodeURIComponent(username),
    SQL_PASSWORD: decodeURIComponent(password),
    SQL_DATABASE: pathname.slice(1),
  };
  try {
    await run(sqlTool, args, { env });
  } catch (error) {
    throw new StartupError(`Temporal's database schema could not be set up: ${oneLine(error)}`);
  }
}
