import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { jsonOf } from '../input.ts';
import { printable } from '../output.ts';
import type { Columns } from '../show.ts';
import type { Resource, Row } from './operation.ts';

const COLUMNS = { slug: 'slug', id: 'id', name: 'name', routes: 'routeCount', updated: 'updatedAt' };

/** What routes refer to. @param columns of the list, besides those of every kind */
function ruleResource(name: 'Filter' | 'Transform' | 'Schema', about: string, columns: Columns = {}): Resource {
  const one = name.toLowerCase();
  const rows: Row[] = [
    { operation: `list${name}s`, columns: { ...COLUMNS, ...columns } },
    { operation: `create${name}`, args: ['name'], done: '{slug} was created ({id})' },
    {
      operation: `put${name}`,
      about: `Create or replace a ${one}; omitted fields are reset to their defaults`,
      done: '{slug} was applied ({id})',
    },
  ];
  return { name: `${one}s`, tag: `${name}s`, one, about, rows };
}

export const filters = ruleResource('Filter', 'Manage filters, which select the events that a route delivers');
export const transforms = ruleResource(
  'Transform',
  'Manage transforms, which turn an event into the body that is sent',
  { type: 'type' },
);

const storedSchemas = ruleResource('Schema', "Manage JSON Schemas that a route's payloads must match", {
  version: 'version',
});
export const schemas: Resource = {
  ...storedSchemas,
  rows: [...storedSchemas.rows, { operation: 'validatePayload', name: 'validate', after: endOf } satisfies Row],
  leftOut: ['testSchema'],
  more(group) {
    group
      .command('test <schema>')
      .description(
        'Validate a payload against a JSON Schema without storing anything; exits with code 1 if the payload is invalid',
      )
      .option('--payload <json>', 'Payload as JSON (@file reads a file, - reads stdin)')
      .option('--event <id>', "Use this event's payload instead of --payload")
      .addHelpText('after', '\nPass the schema as JSON, or @file to read it from a file.')
      .action(testSchema);
  },
};

function endOf(_call: unknown, { valid }: { valid: boolean }): void {
  if (!valid) process.exitCode = EXIT.refused;
}

async function testSchema(
  text: string,
  { payload, event }: { payload?: string; event?: string },
  command: Command,
): Promise<void> {
  const { client, output } = contextOf(command);
  const schema = jsonOf(text, '<schema>') as Parameters<Client['testSchema']>[0]['body']['schema'];
  if ((payload === undefined) === (event === undefined)) throw usage('Specify either --payload or --event');
  const tried =
    payload === undefined
      ? (await client.getEvent({ id: event ?? '', includePayload: true })).payload
      : jsonOf(payload, '--payload');
  const result = await client.testSchema({ body: { schema, payload: tried } });
  output.result(result, () => {
    if (result.valid) output.line('The payload is valid');
    for (const { path, message } of result.errors) output.line(printable(`${path || 'the payload'}: ${message}`));
  });
  endOf(null, result);
}
