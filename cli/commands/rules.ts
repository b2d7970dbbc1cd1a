import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { jsonOf } from '../input.ts';
import { printable } from '../output.ts';
import type { Resource, Row } from './operation.ts';

const columns = { slug: 'slug', id: 'id', name: 'name', routes: 'routeCount', updated: 'updatedAt' };
const CREATED = { args: ['name'], done: '{slug} was created ({id})' } as const;
const applied = (kind: string) => ({
  about: `Create or replace a ${kind}; omitted fields are reset to their defaults`,
  done: '{slug} was applied ({id})',
});

export const filters: Resource = {
  ...{
    name: 'filters',
    tag: 'Filters',
    one: 'filter',
    about: 'Manage filters, which decide which events a route delivers',
  },
  rows: [
    { operation: 'listFilters', columns },
    { operation: 'createFilter', ...CREATED },
    { operation: 'putFilter', ...applied('filter') },
  ],
};

export const transforms: Resource = {
  ...{
    name: 'transforms',
    tag: 'Transforms',
    one: 'transform',
    about: 'Manage transforms, which turn an event into the body that is sent',
  },
  rows: [
    { operation: 'listTransforms', columns: { ...columns, type: 'type' } },
    { operation: 'createTransform', ...CREATED },
    { operation: 'putTransform', ...applied('transform') },
  ],
};

export const schemas: Resource = {
  ...{ name: 'schemas', tag: 'Schemas', one: 'schema' },
  about: "Manage JSON Schemas that a route's payloads must match",
  rows: [
    { operation: 'listSchemas', columns: { ...columns, version: 'version' } },
    { operation: 'createSchema', ...CREATED },
    { operation: 'putSchema', ...applied('schema') },
    { operation: 'validatePayload', name: 'validate', after: endOf } satisfies Row,
  ],
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
