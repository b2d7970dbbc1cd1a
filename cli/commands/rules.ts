import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { EXIT, usage } from '../errors.ts';
import { jsonOf } from '../input.ts';
import { printable } from '../output.ts';
import type { Resource, Row } from './operation.ts';

const columns = { slug: 'slug', id: 'id', name: 'name', routes: 'routeCount', updated: 'updatedAt' };
const CREATED = { args: ['name'], done: '{slug} was created ({id})' } as const;
const APPLIED = {
  about: 'create or replace by slug: omitted fields are reset to their defaults',
  done: '{slug} was applied ({id})',
};

export const filters: Resource = {
  ...{ name: 'filters', tag: 'Filters', one: 'filter', about: 'conditions that decide which events a route receives' },
  rows: [
    { operation: 'listFilters', columns },
    { operation: 'createFilter', ...CREATED },
    { operation: 'putFilter', ...APPLIED },
  ],
};

export const transforms: Resource = {
  ...{
    name: 'transforms',
    tag: 'Transforms',
    one: 'transform',
    about: 'code that turns an event into the request to send',
  },
  rows: [
    { operation: 'listTransforms', columns: { ...columns, type: 'type' } },
    { operation: 'createTransform', ...CREATED },
    { operation: 'putTransform', ...APPLIED },
  ],
};

export const schemas: Resource = {
  ...{ name: 'schemas', tag: 'Schemas', one: 'schema' },
  about: "JSON Schemas that a route's payloads must match",
  rows: [
    { operation: 'listSchemas', columns: { ...columns, version: 'version' } },
    { operation: 'createSchema', ...CREATED },
    { operation: 'putSchema', ...APPLIED },
    { operation: 'validatePayload', name: 'validate', after: endOf } satisfies Row,
  ],
  leftOut: ['testSchema'],
  more(group) {
    group
      .command('test <schema>')
      .description('validate a payload against a JSON Schema; nothing is stored. Exit code 1 if invalid')
      .option('--payload <json>', 'payload, or @file to read from a file, or - for stdin')
      .option('--event <id>', 'use the payload of this event instead of --payload')
      .addHelpText('after', '\nThe schema is JSON, or @file to read from a file.')
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
  const schema = jsonOf(text, 'the schema') as Parameters<Client['testSchema']>[0]['body']['schema'];
  if ((payload === undefined) === (event === undefined)) throw usage('pass either --payload or --event');
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
