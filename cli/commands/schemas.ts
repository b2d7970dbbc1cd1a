// hookyard schemas: a JSON Schema tried on a payload before a route uses it.
import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { parseJson, readInput } from '../input.ts';
import { printable } from '../output.ts';

type Body = Parameters<Client['testSchema']>[0]['body'];

interface TestOptions {
  payload?: string;
  event?: string;
}

export function addSchemas(program: Command): void {
  const schemas = program.command('schemas').description('JSON Schemas, which the payloads of a route must match');
  schemas
    .command('test <schema>')
    .description('say where a payload does not match a JSON Schema; nothing is stored. Exit code 1 if it does not')
    .option('--payload <json>', 'the payload; @file reads a file, - reads stdin')
    .option('--event <id>', 'instead: the payload of this event')
    .addHelpText('after', '\nThe schema is JSON; @file reads a file.')
    .action(async (text: string, options: TestOptions, command: Command) => {
      const { client, output } = contextOf(command);
      const schema = jsonOf(text, 'the schema') as Body['schema'];
      const result = await client.testSchema({ body: { schema, payload: await payloadOf(client, options) } });
      output.result(result, () => {
        if (result.valid) output.line('The payload matches');
        for (const { path, message } of result.errors) output.line(printable(`${path || 'the payload'}: ${message}`));
      });
      if (!result.valid) process.exitCode = EXIT.refused;
    });
}

async function payloadOf(client: Client, { payload, event }: TestOptions): Promise<unknown> {
  if ((payload === undefined) === (event === undefined)) throw usage('give --payload or --event, one of them');
  if (payload !== undefined) return jsonOf(payload, '--payload');
  return (await client.getEvent({ id: event ?? '', includePayload: true })).payload;
}

/** @throws CliError when it is no JSON, or cannot be read */
function jsonOf(text: string, what: string): unknown {
  const json = text === '-' ? readInput('-') : text.startsWith('@') ? readInput(text.slice(1)) : text;
  return parseJson(json, json === text ? what : `${what} ${text}`, 'correct it');
}
